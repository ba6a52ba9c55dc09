/** What happened to a key, from its bans, its changes and its usage by hour, and why a request was refused. Pure. */
import type { AuditView } from "../db/audit-repository.ts";
import type { BanView } from "../db/ban-repository.ts";
import type { KeyView } from "../db/key-repository.ts";
import type { PlanLimits } from "../db/plan-repository.ts";
import { HOUR_MS, MINUTE_MS } from "../limiter/core/quota.ts";
import { rfc3339, toUnixSeconds } from "../time.ts";
import type { HourUsage } from "./usage-figures.ts";

export type KeyEvent = {
  /** Null: not known. */
  readonly from: string | null;
  /** The end of an hour or of a ban; null: none. */
  readonly until: string | null;
  readonly kind: "ban" | "change" | "refusals" | "status";
  /** For people. */
  readonly text: string;
  readonly actor: string | null;
};

/** What is known of a key and of the plans. Changes are newest first, hours oldest first. */
export type KeyFacts = {
  readonly key: KeyView;
  readonly bans: readonly BanView[];
  readonly changes: readonly AuditView[];
  /** Earlier changes were not read, so what they replaced is not known. Unix milliseconds. */
  readonly knownSinceMs: number;
  /** Of the plan that the key had at the time that was asked for. */
  readonly plan: PlanLimits | undefined;
  /** Of all plans. */
  readonly planChanges: readonly AuditView[];
  readonly hours: readonly HourUsage[];
};

/** Newest first: bans and changes that began in this time or lasted into it, and hours with refusals. Unix milliseconds. */
export function eventsBetween(facts: KeyFacts, fromMs: number, toMs: number): KeyEvent[] {
  const { bans, changes, planChanges, hours } = facts;
  const ofItsPlans = planChanges.filter((change) => isOfItsPlan(facts, change));
  const refusals = hours.filter(({ refused, refusedWhileBanned }) => refused + refusedWhileBanned > 0);
  return [
    ...bans.map((ban) => toBanEvent(ban, changes)),
    ...[...changes, ...ofItsPlans].sort((a, b) => b.id - a.id).map(toChangeEvent),
    ...refusals.map(toRefusalsEvent),
  ]
    .filter((event) => startMs(event) < toMs && endMs(event) >= fromMs)
    .sort((a, b) => startMs(b) - startMs(a));
}

const startMs = ({ from }: KeyEvent) => Date.parse(from ?? "");
const endMs = ({ from, until }: KeyEvent) => Date.parse(until ?? from ?? "");

export function endOf({ liftedAt, endsAt }: BanView): string {
  return liftedAt !== null && liftedAt < endsAt ? liftedAt : endsAt;
}

export function toBanEvent(ban: BanView, changes: readonly AuditView[]): KeyEvent {
  const cause = ban.cause === "strikes" ? `for ${ban.strikes} strikes` : "by an operator";
  const reason = ban.reason === null ? "" : `: ${ban.reason}`;
  const ended = ban.liftedBy === null ? "" : `. ${howEnded(ban, changes)} by ${ban.liftedBy}`;
  return event("ban", ban.startedAt, `Banned ${cause}${reason}${ended}`, { until: endOf(ban) });
}

/** A new ban ends those that are live, too. The audit entry that names the ban says which it was, if it was read. */
function howEnded({ id, liftedAt }: BanView, changes: readonly AuditView[]): string {
  const isNamed = ({ at, before }: AuditView) =>
    at === liftedAt && [memberOf(before, "ban"), memberOf(before, "also")].includes(id);
  const call = changes.find(isNamed)?.call;
  return call === "bans.set" ? "Replaced" : call === "bans.lift" ? "Lifted" : "Ended";
}

function toChangeEvent({ at, actor, call, object, before, after }: AuditView): KeyEvent {
  const changed = membersOf(after).flatMap(([name, value]) => {
    const old = memberOf(before, name);
    if (old === undefined) return value === null ? [] : [`${name} ${textOf(value)}`];
    return textOf(old) === textOf(value) ? [] : [`${name} ${textOf(old)} → ${textOf(value)}`];
  });
  const secret = call === "keys.retire" ? memberOf(before, "hint") : undefined;
  const what = call.startsWith("plans.")
    ? `${call} of plan ${object}`
    : secret === undefined
      ? call
      : `${call} of secret ${secret}`;
  return event("change", at, changed.length === 0 ? what : `${what}: ${changed.join(", ")}`, { actor });
}

function toRefusalsEvent({ hour, admitted, refused, refusedWhileBanned }: HourUsage): KeyEvent {
  const figures = `${refused} refused, ${refusedWhileBanned} refused while banned, ${admitted} admitted`;
  return event("refusals", hour, figures, { until: hourEnd(hour) });
}

/** Why a request of this minute was refused, the certain reasons first. */
export function reasonsAt(facts: KeyFacts, atMs: number, nowMs: number): KeyEvent[] {
  const { key, bans } = facts;
  if (atMs > nowMs) return [event("status", null, "This time has not come yet.")];
  const minuteEndMs = atMs + MINUTE_MS;
  if (minuteEndMs <= Date.parse(key.createdAt))
    return [event("status", key.createdAt, "The key did not exist yet: it was created later.")];
  const live = bans.filter((ban) => {
    const began = Date.parse(ban.startedAt);
    // A ban can end in the second in which it began.
    return began < minuteEndMs && (atMs <= began || atMs < Date.parse(endOf(ban)));
  });
  const status = statusReasons(facts, atMs);
  return [
    ...(status.length > 0 ? status : statusReasons(facts, minuteEndMs - 1)),
    ...live.map((ban) => {
      const { text, ...rest } = toBanEvent(ban, facts.changes);
      return { ...rest, text: `${text}. Every request was answered 429.` };
    }),
    ...limitReasons(facts, atMs),
    ...secretReasons(facts, atMs),
  ];
}

function statusReasons({ key, changes, knownSinceMs }: KeyFacts, atMs: number): KeyEvent[] {
  if (atMs < knownSinceMs) return [event("status", null, TOO_MANY_CHANGES)];
  const status = valueAt(changes, "status", atMs, key.status === "expired" ? "active" : key.status);
  const expiresAt = valueAt(changes, "expiresAt", atMs, key.expiresAt);
  const cause = changes.find(
    ({ at, after }) => Date.parse(at) <= atMs && memberOf(after, "status") === status,
  );
  if (status === "disabled" || status === "revoked") {
    const text = `The key was ${status}. Every request was answered 401.`;
    return [event("status", cause?.at ?? null, text, { actor: cause?.actor ?? null })];
  }
  if (typeof expiresAt === "string" && Date.parse(expiresAt) <= atMs)
    return [event("status", expiresAt, "The key had expired. Every request was answered 401.")];
  return [];
}

const TOO_MANY_CHANGES =
  "So many changes followed that the key's status and limits of that time are not known.";
const OTHER_CAUSES = "A mistyped secret is answered 401 too, and is counted for no key.";

function limitReasons(facts: KeyFacts, atMs: number): KeyEvent[] {
  const { hours } = facts;
  const usage = hours.find(({ hour }) => Date.parse(hour) <= atMs && atMs < Date.parse(hour) + HOUR_MS);
  if (!usage) return [event("refusals", null, "The usage of this hour is not stored.")];
  const { hour, admitted, refused, refusedWhileBanned } = usage;
  const during = (text: string) => event("refusals", hour, text, { until: hourEnd(hour) });
  if (refused + refusedWhileBanned === 0)
    return [
      during(
        `No request of this key was refused by a limit in this hour (${admitted} admitted). ${OTHER_CAUSES}`,
      ),
    ];
  const [perMinute, perDay] = (["requestsPerMinute", "requestsPerDay"] as const).map((field) =>
    limitAt(facts, field, atMs),
  );
  const figures = `In this hour: ${refused} refused by a limit, ${refusedWhileBanned} refused while banned, ${admitted} admitted.`;
  if (refused === 0 || atMs < facts.knownSinceMs) return [during(figures)];
  const usedBefore = hours
    .filter((each) => each.hour.slice(0, 10) === hour.slice(0, 10) && each.hour < hour)
    .reduce((sum, each) => sum + each.admitted, 0);
  if (typeof perDay === "number" && usedBefore + admitted >= perDay) {
    const when = usedBefore >= perDay ? "before this hour" : "in this hour";
    return [
      during(
        `The day's limit of ${perDay} was used up ${when}. Further requests were answered 429 until midnight UTC. ${figures}`,
      ),
    ];
  }
  const limit = typeof perMinute === "number" ? `The limit of ${perMinute} a minute` : "The limit per minute";
  return [
    during(
      `${limit} was used up in one or more minutes of this hour. Further requests of such a minute were answered 429. ${figures}`,
    ),
  ];
}

function secretReasons({ key }: KeyFacts, atMs: number): KeyEvent[] {
  return key.secrets
    .filter(({ expiresAt }) => expiresAt !== null && Date.parse(expiresAt) <= atMs)
    .map(({ hint, expiresAt }) =>
      event("status", expiresAt, `Secret ${hint} had ended. Requests with it were answered 401.`),
    );
}

function limitAt(facts: KeyFacts, field: keyof PlanLimits, atMs: number) {
  const { key, changes, plan, planChanges } = facts;
  const planThen = planAt(facts, atMs);
  const ofPlan = planChanges.filter(({ object }) => object === planThen);
  return valueAt(changes, field, atMs, key[field]) ?? valueAt(ofPlan, field, atMs, plan?.[field]);
}

/** What a member was at a time: what the first change after it replaced, or what it is now. */
function valueAt(changes: readonly AuditView[], member: string, atMs: number, now: unknown): unknown {
  const next = changes.findLast(
    ({ at, after }) => Date.parse(at) > atMs && memberOf(after, member) !== undefined,
  );
  // In the minute of its creation, a key is as it was created.
  return next === undefined ? now : memberOf(next.before ?? next.after, member);
}

/** The plan that the key had at a time. */
export function planAt({ key, changes }: Pick<KeyFacts, "key" | "changes">, atMs: number): string {
  return String(valueAt(changes, "plan", atMs, key.plan));
}

/** Whether the key had the plan when this change of it was stored, which is what the order of the ids says. */
function isOfItsPlan({ key, changes, knownSinceMs }: KeyFacts, { id, at, object }: AuditView): boolean {
  if (Date.parse(at) < Math.max(Date.parse(key.createdAt), knownSinceMs)) return false;
  const next = changes.findLast((change) => change.id > id && memberOf(change.after, "plan") !== undefined);
  return object === (next === undefined ? key.plan : memberOf(next.before, "plan"));
}

function membersOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function memberOf(value: unknown, name: string): unknown {
  return membersOf(value).find(([each]) => each === name)?.[1];
}

function textOf(value: unknown): string {
  return value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value);
}

function hourEnd(hour: string): string {
  return rfc3339(toUnixSeconds(Date.parse(hour) + HOUR_MS));
}

function event(
  kind: KeyEvent["kind"],
  from: string | null,
  text: string,
  { until = null, actor = null }: Partial<Pick<KeyEvent, "until" | "actor">> = {},
): KeyEvent {
  return { kind, from, until, text, actor };
}
