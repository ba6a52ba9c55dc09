/** The values that fields of keys can have, and keys as text. Pure. */

import { formatNumber } from "../../shared/format.ts";
import type { KeyStatus, KeyView } from "../api-types.ts";

export const PLANS = ["free", "pro", "business", "enterprise"] as const;
export type Plan = (typeof PLANS)[number];

export const STATUSES = ["active", "disabled", "expired", "revoked"] as const satisfies readonly KeyStatus[];

/** Cloudflare's location hints for Durable Objects. */
export const LOCATIONS = [
  ["", "Near its first request"],
  ["wnam", "Western North America"],
  ["enam", "Eastern North America"],
  ["sam", "South America"],
  ["weur", "Western Europe"],
  ["eeur", "Eastern Europe"],
  ["apac", "Asia-Pacific"],
  ["oc", "Oceania"],
  ["afr", "Africa"],
  ["me", "Middle East"],
] as const;
export type Location = Exclude<(typeof LOCATIONS)[number][0], "">;

export function isPlan(text: string | undefined): text is Plan {
  return PLANS.some((plan) => plan === text);
}

export function isKeyStatus(text: string | undefined): text is KeyStatus {
  return STATUSES.some((status) => status === text);
}

const SORTS = ["created", "name", "owner", "expiry"] as const;

export function isKeySort(text: string | undefined): text is (typeof SORTS)[number] {
  return SORTS.some((sort) => sort === text);
}

/** An optional text as the admin API expects it. */
export function textOrNull(text: string): string | null {
  return text.trim() === "" ? null : text.trim();
}

export function limitsText({ limits }: Pick<KeyView, "limits">): string {
  return `${formatNumber(limits.requestsPerMinute)} / min, ${formatNumber(limits.requestsPerDay)} / day`;
}

/** Usage is deleted in the end, and that of the last minutes is not reported yet. */
export function lastUsedText({ lastUsedDay, firstUsedAt }: Pick<KeyView, "lastUsedDay" | "firstUsedAt">) {
  return lastUsedDay ?? (firstUsedAt === null ? "never" : "–");
}

/** Of the field of a key's own limit, by the limit of its plan: null if each key must have its own, undefined if unknown. */
export function limitFieldOf(planLimit: number | null | undefined) {
  if (planLimit === null) return { required: true, hint: "The plan has no limit of its own." };
  const text = planLimit === undefined ? "the plan's limit" : `the plan's limit, ${formatNumber(planLimit)}`;
  return { required: false, hint: `Empty: ${text}.` };
}

/** The text of the field `Expires`, of which a date input shows the date: a day, or a time that is no midnight as it is stored. */
export function expiryTextOf(expiresAt: string | null): string {
  return expiresAt?.replace(/T00:00:00Z$/, "") ?? "";
}

/** A stored time stays until the operator changes the field, which can only be set to a day. */
export function expiryFieldOf(text: string) {
  const [day = "", time] = text.split("T");
  const at =
    time === undefined
      ? "At 00:00 UTC of this day."
      : `At ${time.replace("Z", "")} UTC of this day, until it is changed or removed; a day that is chosen begins at 00:00 UTC.`;
  return { value: day, hint: `${at} Empty: never.` };
}

/** A number field's text as the admin API expects it: empty stands for the plan's limit. */
export function limitOf(text: string): number | null {
  return text.trim() === "" ? null : Number(text);
}
