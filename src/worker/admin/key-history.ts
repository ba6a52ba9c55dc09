/** What happened to a key, from its bans, its changes and its usage by hour. Pure. */
import type { AuditView } from "../db/audit-repository.ts";
import type { BanView } from "../db/ban-repository.ts";
import type { KeyView } from "../db/key-repository.ts";
import type { PlanLimits } from "../db/plan-repository.ts";
import { HOUR_MS } from "../limiter/core/quota.ts";
import { rfc3339, toUnixSeconds } from "../time.ts";
import { memberOf, membersOf, textOf } from "./audit-members.ts";
import type { Freshness, HourUsage } from "./usage-figures.ts";

export type KeyEvent = {
  /** Null: not known. */
  readonly from: string | null;
  /** The end of an hour, of a ban or of a status; null: none. */
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
  /** Earlier bans were not read. Unix milliseconds. */
  readonly bansSinceMs: number;
  readonly changes: readonly AuditView[];
  /** Earlier changes were not read or are deleted, so what they replaced is not known. Unix milliseconds. */
  readonly knownSinceMs: number;
  /** Of the plan that the key had at the time that was asked for. */
  readonly plan: PlanLimits | undefined;
  /** Of all plans. */
  readonly planChanges: readonly AuditView[];
  readonly hours: readonly (HourUsage & Freshness)[];
  /** Earlier hours may be deleted. Unix milliseconds. */
  readonly usageSinceMs: number;
};

/**
 * Newest first: bans and changes that began in this time or lasted into it, and hours with refusals. Before them, what is not
 * known. Unix milliseconds.
 */
export function eventsBetween(facts: KeyFacts, fromMs: number, toMs: number): KeyEvent[] {
  const { bans, changes, planChanges, hours } = facts;
  const ofItsPlans = planChanges.filter((change) => isOfItsPlan(facts, change));
  const refusals = hours.filter(({ refused, refusedWhileBanned }) => refused + refusedWhileBanned > 0);
  const isShown = (event: KeyEvent) => startMs(event) < toMs && endMs(event) >= fromMs;
  const known = [
    ...bans.map((ban) => toBanEvent(ban, changes)),
    ...[...changes, ...ofItsPlans].sort((a, b) => b.id - a.id).map(toChangeEvent),
    ...refusals.map(toRefusalsEvent),
  ];
  return [
    ...[...notLive(hours), ...notRead(facts, fromMs)].filter(isShown),
    ...known.filter(isShown).sort((a, b) => startMs(b) - startMs(a)),
  ];
}

export const NOT_REACHED = "The key's limiter cannot be reached";

function notLive(hours: KeyFacts["hours"]): KeyEvent[] {
  const [first] = hours.filter(({ live }) => !live);
  const last = hours.at(-1);
  if (!first || !last) return [];
  const text = `${NOT_REACHED}: refusals since this time, and bans that it has not reported, can be missing.`;
  return [event("refusals", first.hour, text, { until: hourEnd(last.hour) })];
}

function notRead({ key, bansSinceMs, knownSinceMs, usageSinceMs }: KeyFacts, fromMs: number): KeyEvent[] {
  const sinceMs = Math.max(fromMs, Date.parse(key.createdAt));
  const time = (ms: number) => rfc3339(toUnixSeconds(ms));
  const before = (kind: KeyEvent["kind"], untilMs: number, text: string) =>
    untilMs > sinceMs ? [event(kind, time(sinceMs), text, { until: time(untilMs) })] : [];
  return [
    ...before("ban", bansSinceMs, "Bans can be missing: too many followed."),
    ...before(
      "change",
      knownSinceMs,
      "Changes can be missing: too many followed, or their audit entries are deleted.",
    ),
    ...before("refusals", usageSinceMs, "Refusals can be missing: usage is not kept as long."),
  ];
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
function howEnded({ id }: BanView, changes: readonly AuditView[]): string {
  const isNamed = ({ before }: AuditView) => [memberOf(before, "ban"), memberOf(before, "also")].includes(id);
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

function toRefusalsEvent(usage: KeyFacts["hours"][number]): KeyEvent {
  const { hour, admitted, refused, refusedWhileBanned, live } = usage;
  const figures = `${refused} refused, ${refusedWhileBanned} refused while banned, ${admitted} admitted${live ? "" : ", as last reported"}`;
  return event("refusals", hour, figures, { until: hourEnd(hour) });
}

/** Whether the key had the plan when this change of it was stored, which is what the order of the ids says. */
function isOfItsPlan({ key, changes, knownSinceMs }: KeyFacts, { id, at, object }: AuditView): boolean {
  if (Date.parse(at) < Math.max(Date.parse(key.createdAt), knownSinceMs)) return false;
  const next = changes.findLast((change) => change.id > id && memberOf(change.after, "plan") !== undefined);
  return object === (next === undefined ? key.plan : memberOf(next.before, "plan"));
}

export function hourEnd(hour: string): string {
  return rfc3339(toUnixSeconds(Date.parse(hour) + HOUR_MS));
}

export function event(
  kind: KeyEvent["kind"],
  from: string | null,
  text: string,
  { until = null, actor = null }: Partial<Pick<KeyEvent, "until" | "actor">> = {},
): KeyEvent {
  return { kind, from, until, text, actor };
}
