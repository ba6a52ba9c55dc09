/**
 * Everything that an object stores, when its alarm is due, and when its storage can be deleted.
 *
 * Pure: `nowMs` is a parameter.
 */
import { rememberedUntilMs } from "./bans.ts";
import { type Counters, NOTHING_COUNTED, type Reserve } from "./decide.ts";
import type { Loaded } from "./policy-cache.ts";
import {
  EMPTY_OUTBOX,
  hoursEndAtMs,
  isUrgent,
  lastRefusalMs,
  NO_REQUESTS,
  newsDueAtMs,
  type Outbox,
  type ReachedThreshold,
  unreportedHours,
  usageDueAtMs,
} from "./usage.ts";
import { type Count, endOf } from "./windows.ts";

/** No alarm comes sooner: an alarm costs a row, and an object in use reports without an alarm. */
const SOONEST_ALARM_MS = 60_000;
/** The runtime takes no alarm after 2189, and a block may end in 9999. An alarm that comes early is set again. */
const LATEST_ALARM_MS = 366 * 86_400_000;
/** Storage is deleted this long after the last end: clocks differ, and moving an alarm costs a write. */
const DELETE_AFTER_MS = 600_000;

export type State = Counters & {
  readonly outbox: Outbox;
  readonly alarmAtMs: number | null;
  /** The policy outlives the object's memory, in the row that counts are written to anyway. */
  readonly loaded?: Loaded | undefined;
};

export const NEW_STATE: State = { ...NOTHING_COUNTED, outbox: EMPTY_OUTBOX, alarmAtMs: null };

/** Raise this number with each change of `Policy` that an older version cannot read. */
const POLICY_VERSION = 2;

export type Row = State & { readonly policyVersion: number };

export function rowOf(state: State): Row {
  return { ...state, policyVersion: POLICY_VERSION };
}

/** Fills in members that an older version did not store. A policy in another form is loaded again. */
export function stateOf({ policyVersion, ...row }: Row): State {
  const { thresholds = [], lastThreshold = null } = row.outbox;
  const ofThreshold = (each: ReachedThreshold) => ({ ...each, window: withUnit(each.window) });
  const outbox = {
    ...EMPTY_OUTBOX,
    ...row.outbox,
    hours: row.outbox.hours.map((hour) => ({ ...NO_REQUESTS, ...hour })),
    thresholds: thresholds.map(ofThreshold),
    lastThreshold: lastThreshold && ofThreshold(lastThreshold),
  };
  const counts = row.counts.map(withUnit);
  const reserves = (row.reserves ?? []).map(withCosts);
  const loaded = policyVersion === POLICY_VERSION ? row.loaded : undefined;
  return { ...NEW_STATE, ...row, counts, reserves, outbox, loaded };
}

/** Before 0.4.0, windows counted requests only, and a reserve had one cost for all of its windows. */
const OF_REQUESTS = { unit: "requests" };
function withUnit<T extends Count>(count: T): T {
  return { ...OF_REQUESTS, ...count };
}
function withCosts({ settleId, windows, ...older }: Reserve & { readonly cost?: number }): Reserve {
  const reserved = "cost" in older ? { used: older.cost } : {};
  return { settleId, windows: windows.map((window) => withUnit({ ...reserved, ...window })) };
}

/**
 * Returns when the newest window began that has counted a request, or the minute of a later refusal. No write
 * is made for this: a window's first request is stored in any case.
 */
export function lastRequestMs({ counts, outbox }: State): number | null {
  const known = [...counts.map(({ startMs }) => startMs), lastRefusalMs(outbox) ?? []].flat();
  return known.length === 0 ? null : Math.max(...known);
}

/** Returns when the alarm is due, or null for never. */
export function alarmDueAtMs(state: State, key: string, keeps: boolean, nowMs: number): number | null {
  const dueAtMs = reportDueAtMs(state.outbox, key) ?? (keeps ? null : deletableAtMs(state));
  if (dueAtMs === null) return null;
  return Math.min(Math.max(dueAtMs, nowMs + SOONEST_ALARM_MS), nowMs + LATEST_ALARM_MS);
}

/** Returns when an alarm has something to report. Growth has no alarm: all usage has one. */
export function reportDueAtMs(outbox: Outbox, key: string): number | null {
  return isUrgent(outbox) ? newsDueAtMs(outbox) : usageDueAtMs(outbox, key);
}

/** Whether the state can be deleted: no window counts, no ban is remembered, and everything is reported. */
export function isOver(state: State, nowMs: number): boolean {
  const isReported = unreportedHours(state.outbox).length === 0 && !isUrgent(state.outbox);
  return isReported && nowMs >= deletableAtMs(state);
}

function deletableAtMs({ counts, penalty, block, outbox }: State): number {
  const endsMs = [
    ...counts.map(endOf),
    block?.endsAtMs ?? 0,
    rememberedUntilMs(penalty),
    hoursEndAtMs(outbox),
  ];
  return Math.max(...endsMs) + DELETE_AFTER_MS;
}
