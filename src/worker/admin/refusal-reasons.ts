/** Why a request of a key was refused at a time. Pure. */
import type { PlanLimits } from "../db/plan-repository.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, windowStartMs } from "../limiter/core/quota.ts";
import { hasChanged, inStoredOrder, memberOf, valueAt } from "./audit-members.ts";
import {
  endOf,
  event,
  hourEnd,
  type KeyEvent,
  type KeyFacts,
  NOT_REACHED,
  toBanEvent,
} from "./key-history.ts";
import type { HourUsage } from "./usage-figures.ts";

/** Why a request of this minute was refused, the certain reasons first. */
export function reasonsAt(facts: KeyFacts, atMs: number, nowMs: number): KeyEvent[] {
  const { key, bans } = facts;
  if (atMs > nowMs) return [event("status", null, "This time has not come yet.")];
  const minuteEndMs = atMs + MINUTE_MS;
  const createdMs = Date.parse(key.createdAt);
  if (minuteEndMs <= createdMs)
    return [event("status", key.createdAt, "The key did not exist yet: it was created later.")];
  // Plans can change in this minute before the key is created.
  const startMs = Math.max(atMs, createdMs);
  const live = bans.filter((ban) => {
    const began = Date.parse(ban.startedAt);
    // A ban can end in the second in which it began.
    return began < minuteEndMs && (startMs <= began || startMs < Date.parse(endOf(ban)));
  });
  // An expiry later in this minute has refused nothing yet.
  const endMs = Math.min(minuteEndMs, nowMs + 1);
  const inOrder = {
    ...facts,
    changes: inStoredOrder(facts.changes),
    planChanges: inStoredOrder(facts.planChanges),
  };
  return [
    ...statusReasons(inOrder, startMs, endMs),
    ...live.map((ban) => {
      const { text, ...rest } = toBanEvent(ban, facts.changes);
      return { ...rest, text: `${text}. While it lasted, no request was admitted.` };
    }),
    ...limitReasons(inOrder, startMs, nowMs),
    ...secretReasons(facts, startMs, endMs),
  ];
}

/** Of every status that the key had in the minute: before its first change, and after each one, as several can have the same second. */
function statusReasons({ key, changes, knownSinceMs }: KeyFacts, atMs: number, endMs: number): KeyEvent[] {
  if (atMs < knownSinceMs) return [event("status", null, NOT_KNOWN)];
  const timesMs = changes.map(({ at }) => Date.parse(at));
  const changesSince = [
    timesMs.filter((timeMs) => timeMs >= atMs).length,
    ...timesMs.flatMap((timeMs, index) => (atMs <= timeMs && timeMs < endMs ? [index] : [])),
  ];
  const reasons = [...new Set(changesSince)]
    .sort((a, b) => b - a)
    .flatMap((count) => {
      const nextMs = timesMs[count - 1] ?? endMs;
      return statusReason(key, changes.slice(count), changes.slice(0, count), Math.min(nextMs, endMs - 1));
    });
  const isSame = (a: KeyEvent, b: KeyEvent) => a.from === b.from && a.until === b.until && a.text === b.text;
  return reasons.filter((reason, i) => reasons.findIndex((each) => isSame(each, reason)) === i);
}

/** Of the status between two changes, up to `endMs`. */
function statusReason(
  key: KeyFacts["key"],
  before: KeyFacts["changes"],
  after: KeyFacts["changes"],
  endMs: number,
): KeyEvent[] {
  const valueThen = (member: string, now: unknown) => valueAt(after, member, Number.NEGATIVE_INFINITY, now);
  const nextChangeOf = (member: string) => after.findLast((change) => hasChanged(change, member))?.at ?? null;
  const status = valueThen("status", key.status === "expired" ? "active" : key.status);
  const expiresAt = valueThen("expiresAt", key.expiresAt);
  if (status === "disabled" || status === "revoked") {
    const cause = before.find(
      (change) => memberOf(change.after, "status") === status && hasChanged(change, "status"),
    );
    const source = { actor: cause?.actor ?? null, until: nextChangeOf("status") };
    return [
      event("status", cause?.at ?? null, `The key was ${status}. Every request was answered 401.`, source),
    ];
  }
  if (typeof expiresAt === "string" && Date.parse(expiresAt) <= endMs) {
    const text = "The key had expired. Every request was answered 401.";
    return [event("status", expiresAt, text, { until: nextChangeOf("expiresAt") })];
  }
  return [];
}

const NOT_KNOWN =
  "The key's status and limits of that time are not known: too many changes followed, or audit entries of that time are deleted.";
const USAGE_NOT_KNOWN =
  "The usage of this hour is not known: it is not kept as long, or was stored without hours.";
const LIMITS = ["requestsPerMinute", "requestsPerDay"] as const;
const OTHER_CAUSES = "A mistyped secret is answered 401 too, and is counted for no key.";

function limitReasons(facts: KeyFacts, atMs: number, nowMs: number): KeyEvent[] {
  const { hours } = facts;
  const usage = hours.find(({ hour }) => Date.parse(hour) <= atMs && atMs < Date.parse(hour) + HOUR_MS);
  if (!usage) return [event("refusals", null, USAGE_NOT_KNOWN)];
  const { hour, admitted, refused, refusedWhileBanned, live } = usage;
  const during = (text: string) => event("refusals", hour, text, { until: hourEnd(hour) });
  const figures = `${refused} refused by a limit, ${refusedWhileBanned} refused while banned, ${admitted} admitted.`;
  if (!live)
    return [
      during(
        `${NOT_REACHED}, so the refusals of this day are not known. Last reported of this hour: ${figures}`,
      ),
    ];
  if (refused + refusedWhileBanned === 0)
    return [
      during(
        `No request of this key was refused by a limit in this hour (${admitted} admitted). ${OTHER_CAUSES}`,
      ),
    ];
  const inHour = `In this hour: ${figures}`;
  if (refused === 0 || Date.parse(hour) < facts.knownSinceMs) return [during(inHour)];
  return [during(`${usedUpLimit(facts, usage, atMs, nowMs)} ${inHour}`)];
}

/** Refusals are counted by the hour: if a limit changed in it, they can be of the old or of the new one. */
function usedUpLimit(facts: KeyFacts, { hour, admitted }: HourUsage, atMs: number, nowMs: number): string {
  const usedBefore = facts.hours
    .filter((each) => each.hour.slice(0, 10) === hour.slice(0, 10) && each.hour < hour)
    .reduce((sum, each) => sum + each.admitted, 0);
  const perDay = limitAt(facts, "requestsPerDay", atMs);
  const isUsedUp = (used: number) => typeof perDay === "number" && used >= perDay;
  const sinceHour = { fromMs: Date.parse(hour), toMs: atMs + 1 };
  const isUsedUpBefore =
    isUsedUp(usedBefore) && limitChangesIn(facts, atMs, sinceHour, ["requestsPerDay"]).length === 0;
  if (!isUsedUpBefore && limitChangesIn(facts, atMs, hourOf(hour), LIMITS).length > 0)
    return "A limit changed in this hour, so it is not known which one was used up.";
  const perMinute = limitAt(facts, "requestsPerMinute", atMs);
  const minuteLimit = typeof perMinute === "number" ? `limit of ${perMinute} a minute` : "limit per minute";
  if (isUsedUp(usedBefore + admitted)) {
    const restOfDay = { fromMs: atMs + 1, toMs: windowStartMs(atMs, DAY_MS) + DAY_MS };
    const [changed] = limitChangesIn(facts, atMs, restOfDay, ["requestsPerDay"]);
    const untilMidnight =
      nowMs < restOfDay.toMs ? "up to now; the day ends at midnight UTC" : "until midnight UTC";
    const until = changed === undefined ? untilMidnight : `at least until the limit changed at ${changed}`;
    // Not which status they got: a key that is disabled, revoked or expired besides answers 401.
    const refused = `request was admitted ${until}.`;
    return isUsedUpBefore
      ? `The day's limit of ${perDay} was used up before this hour. No further ${refused}`
      : `The day's limit of ${perDay} was used up in this hour. From then on, no ${refused} If a limit refused requests earlier in this hour, that was the ${minuteLimit}.`;
  }
  return `The ${minuteLimit} was used up in one or more minutes of this hour. No further request of such a minute was admitted.`;
}

function secretReasons({ key }: KeyFacts, atMs: number, endMs: number): KeyEvent[] {
  return key.secrets.flatMap(({ hint, expiresAt }) => {
    if (expiresAt === null || Date.parse(expiresAt) >= endMs) return [];
    const hadEnded = Date.parse(expiresAt) <= atMs;
    const text = hadEnded ? "had ended. Requests" : "ended. Later requests";
    return [event("status", expiresAt, `Secret ${hint} ${text} with it were answered 401.`)];
  });
}

function limitAt(facts: KeyFacts, field: keyof PlanLimits, atMs: number) {
  const { key, changes, plan, planChanges } = facts;
  const planThen = planAt(facts, atMs);
  const ofPlan = planChanges.filter(({ object }) => object === planThen);
  return valueAt(changes, field, atMs, key[field]) ?? valueAt(ofPlan, field, atMs, plan?.[field]);
}

const hourOf = (hour: string) => ({ fromMs: Date.parse(hour), toMs: Date.parse(hour) + HOUR_MS });

/** When limits that the key had at `atMs` changed, whether its own or its plan's; the oldest first. */
function limitChangesIn(
  facts: KeyFacts,
  atMs: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  fields: readonly (keyof PlanLimits)[],
): string[] {
  const { key, changes, planChanges } = facts;
  const planThen = planAt(facts, atMs);
  const ofPlan = fields.filter((field) => valueAt(changes, field, atMs, key[field]) === null);
  const ofKey = ofPlan.length > 0 ? ["plan", ...fields] : fields;
  const createdMs = Date.parse(key.createdAt);
  return [
    // The creation is no change, but one in the same second is.
    ...changes.filter(
      (change) => change.before !== null && ofKey.some((member) => hasChanged(change, member)),
    ),
    ...planChanges.filter(
      (change) =>
        change.object === planThen &&
        Date.parse(change.at) >= createdMs &&
        ofPlan.some((field) => hasChanged(change, field)),
    ),
  ]
    .map(({ at }) => at)
    .filter((at) => fromMs <= Date.parse(at) && Date.parse(at) < toMs)
    .sort();
}

/** The plan that the key had at a time, or was created with later. */
export function planAt({ key, changes }: Pick<KeyFacts, "key" | "changes">, atMs: number): string {
  return String(valueAt(inStoredOrder(changes), "plan", Math.max(atMs, Date.parse(key.createdAt)), key.plan));
}
