/** What a change says. Forms, the audit log and the command show the same sentences. Pure. */
import { formatNumber, formatTime, planName } from "./format.ts";

export type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the sentence about a change without its subject, the key, plan or order. The members are those of
 * the audit log. Whoever does not know what was before leaves `before` empty.
 */
export type Says = (before: Members, after: Members) => string;

const MAX_CHARS = 60;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** `requestsPerDay` is `requests per day`. */
export function wordsOf(member: string): string {
  return member.replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** A number of 64 bits is a bigint or raw JSON, and keeps its digits. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return value.map(textOf).join("; ") || "none";
  if (typeof value === "string") return TIME.test(value) ? formatTime(value) : value;
  if (typeof value !== "object") return String(value);
  const json = JSON.stringify(value);
  return json.startsWith("{") ? listOf(Object.entries(value)) : json;
}

/** The value of a member. The number of an id has no separators. */
export function memberText(name: string, value: unknown): string {
  if (name === "plan" && typeof value === "string") return planName(value);
  const { plan, from } = name === "nextPlan" ? membersOf(value) : {};
  if (typeof plan === "string") return `${planName(plan)} from ${textOf(from)}`;
  return typeof value === "number" && !/id$/i.test(name) ? formatNumber(value) : textOf(value);
}

type PlansOfKey = { readonly plan: string; readonly nextPlan: object | null };

/** `Free, Business from 1 Jan 2027, 00:00 UTC` */
export function plansOf({ plan, nextPlan }: PlansOfKey): string {
  return planName(plan) + (nextPlan === null ? "" : `, ${memberText("nextPlan", nextPlan)}`);
}

/** `plan Free → Pro, requests per day 6,000` */
export function differences(before: Members, after: Members): string {
  return Object.entries(after)
    .map(([name, value]) => {
      const was = Object.hasOwn(before, name) ? `${short(name, before[name])} → ` : "";
      return `${wordsOf(name)} ${was}${short(name, value)}`;
    })
    .join(", ");
}

/** `requests per minute 5, requests per day 6,000`. Leaves out members without a value. */
export function listOf(members: readonly (readonly [name: string, value: unknown])[]): string {
  const set = members.filter(([, value]) => (value ?? null) !== null);
  return set.map(([name, value]) => `${wordsOf(name)} ${memberText(name, value)}`).join(", ");
}

function short(name: string, value: unknown): string {
  const text = memberText(name, value).replaceAll("\n", " ");
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS).toWellFormed()}…` : text;
}

/** `The key is revoked. It takes effect within minutes.` Nothing is said of a change that took effect. */
export function sentenceOf(subject: string, says: string, effective: string | null = null): string {
  const end = says.endsWith(".") ? "" : ".";
  return `${subject} ${says}${end}${effective === null || effective === "immediately" ? "" : ` It takes effect ${effective}.`}`;
}
