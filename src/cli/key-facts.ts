/** A key in groups, as its page of the console has them. What is absent is left out. */

import type { KeyView, LiveUsage } from "../worker/admin/keys/schema.ts";
import { RIGHTS } from "../worker/admin/says.ts";
import { formatNumber } from "../worker/text/format.ts";
import { describe, minuteOf } from "./output.ts";

/** `live` is what the key's limiter says. Null: the key was never used, or the limiter could not be reached. */
type ShownKey = KeyView & { readonly live?: LiveUsage | null; readonly whyRefused?: readonly string[] };
type Facts = Readonly<Record<string, unknown>>;

export function describeKey({ live, whyRefused = [], ...key }: ShownKey): string {
  const ban = key.bannedUntil === null ? "" : `, banned until ${minuteOf(key.bannedUntil)}`;
  const status = `${key.status === "banned" ? "active" : key.status}${ban}`;
  const groups: readonly (readonly [heading: string, facts: Facts])[] = [
    [`${key.name}: ${status}`, { id: key.id, version: key.version }],
    ["Now", live ? nowOf(live) : {}],
    [
      "Limits",
      {
        plan: key.plan,
        perMinute: limitText(key, "requestsPerMinute"),
        perDay: limitText(key, "requestsPerDay"),
        rights: key.mayCancel === false ? RIGHTS.false : null,
        location: key.location,
      },
    ],
    ["Customer", { ...key.customer }],
    ["Note", { note: key.note }],
    [
      "Times",
      {
        created: key.createdAt,
        firstUsed: key.firstUsedAt,
        lastUsed: live?.lastUsedAt ?? key.lastUsedDay,
        expires: key.expiresAt,
      },
    ],
  ];
  const secrets = key.secrets.toReversed().map((secret) => `\n  ${secret.hint}  ${lifeOf(secret)}`);
  const [head = "", ...texts] = groups.flatMap(([heading, facts]) => textOf(heading, facts));
  const why = whyRefused.length === 0 ? [] : [["Why 429?", ...whyRefused].join("\n  ")];
  return [head, ...why, ...texts, `Secrets${secrets.join("")}`].join("\n\n");
}

function textOf(heading: string, facts: Facts): string[] {
  const present = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined);
  if (present.length === 0) return [];
  return [`${heading}\n${describe(Object.fromEntries(present)).replace(/^/gm, "  ")}`];
}

function nowOf({ minute, day, strikes, ban }: LiveUsage): Facts {
  const gauge = ({ used, limit, resetsAt }: LiveUsage["day"]) =>
    `${formatNumber(used)} of ${formatNumber(limit)} used, until ${minuteOf(resetsAt)}`;
  const banned =
    ban &&
    `until ${minuteOf(ban.endsAt)}, ${ban.cause === "operator" ? "by an operator" : "for seconds over the limit"}${ban.reason === null ? "" : `: ${ban.reason}`}`;
  return { minute: gauge(minute), day: gauge(day), secondsOverLimit: strikes || null, ban: banned };
}

function limitText(key: KeyView, name: "requestsPerMinute" | "requestsPerDay"): string {
  const [own, temporary] = [key[name], key.temporaryLimits?.[name] ?? null];
  const permanent = own === null ? "the plan's" : `${formatNumber(own)}, its own`;
  if (key.temporaryLimits !== null && temporary !== null)
    return `${formatNumber(temporary)} until ${minuteOf(key.temporaryLimits.until)}, then ${permanent}`;
  return own === null ? `${formatNumber(key.limits[name])}, the plan's` : permanent;
}

function lifeOf({ id, createdAt, lastUsedAt, expiresAt }: KeyView["secrets"][number]): string {
  const used = lastUsedAt === null ? "" : `, last used ${minuteOf(lastUsedAt)}`;
  return `${id}, created ${minuteOf(createdAt)}${used}${expiresAt === null ? "" : `, ends ${minuteOf(expiresAt)}`}`;
}
