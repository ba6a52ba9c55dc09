/**
 * Usage by hour, bans and thresholds, until they are reported. Figures are absolute, so a report can come
 * twice.
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */
import type { Ban } from "./bans.ts";
import type { Counted, TooCostly, Verdict } from "./decide.ts";
import type { WindowView } from "./windows.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Each write stores all that is not reported: at most this many hours, bans and thresholds, the newest. */
const MAX_KEPT = 48;

/** Refusals in one minute of the hour, 0 to 59. `by` counts them by the name of the window, or "ban". */
export type RefusedMinute = { readonly minute: number; readonly by: Readonly<Record<string, number>> };

/** The usage of one UTC hour. */
export type HourUsage = {
  readonly startMs: number;
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
  readonly refusedMinutes: readonly RefusedMinute[];
  /** The limit of each window, by its name, at the newest request. */
  readonly limits: Readonly<Record<string, number>>;
};

/** The window, and the shares of its limit in percent, at which a key is reported at once. */
export type Thresholds = { readonly window: string; readonly percents: readonly number[] };

/** The key has used this share of a window for the first time in the window and under this limit. */
export type ReachedThreshold = {
  readonly percent: number;
  readonly window: WindowView;
  readonly reachedAtMs: number;
};

export type Report = {
  readonly key: string;
  readonly hours: readonly HourUsage[];
  readonly bans: readonly Ban[];
  readonly thresholds: readonly ReachedThreshold[];
};

export type Outbox = {
  /** Oldest first. The last hour stays after its report: a clock that ran back counts into the hour again. */
  readonly hours: readonly HourUsage[];
  readonly isLastHourReported: boolean;
  readonly bans: readonly Ban[];
  readonly thresholds: readonly ReachedThreshold[];
  readonly lastThreshold: ReachedThreshold | null;
  /** A failed report is not repeated before this time. 0: no report has failed. */
  readonly notBeforeMs: number;
};

export const EMPTY_OUTBOX: Outbox = {
  hours: [],
  isLastHourReported: true,
  bans: [],
  thresholds: [],
  lastThreshold: null,
  notBeforeMs: 0,
};

/** A ban that the decision began, and the thresholds to check. */
export type Event = { readonly begun: Ban | null; readonly thresholds: Thresholds | undefined };

const NO_REQUESTS = { admitted: 0, refused: 0, refusedWhileBanned: 0, refusedMinutes: [], limits: {} };

/** Adds a verdict to the newest hour, a ban that began, and a threshold that was reached. */
export function record(
  outbox: Outbox,
  verdict: Verdict,
  { begun, thresholds }: Event,
  nowMs: number,
): Outbox {
  if (verdict.kind === "unknown" || verdict.kind === "too_costly") return outbox;
  const last = outbox.hours.at(-1);
  const startMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  const isNew = last === undefined || startMs > last.startMs;
  const hour = isNew ? { ...NO_REQUESTS, startMs } : last;
  const reached = thresholds && reachedThreshold(outbox, verdict, thresholds, nowMs);
  return {
    ...outbox,
    hours: [...kept(outbox, isNew), count(hour, verdict, nowMs)].slice(-MAX_KEPT),
    isLastHourReported: false,
    bans: begun ? [...outbox.bans, begun].slice(-MAX_KEPT) : outbox.bans,
    ...(reached && {
      thresholds: [...outbox.thresholds, reached].slice(-MAX_KEPT),
      lastThreshold: reached,
    }),
  };
}

function reachedThreshold(
  { lastThreshold: last }: Outbox,
  { quota }: Counted,
  { window: name, percents }: Thresholds,
  nowMs: number,
): ReachedThreshold | undefined {
  const window = quota.find((each) => each.name === name);
  if (window === undefined) return undefined;
  const percent = Math.max(0, ...percents.filter((each) => 100 * window.used >= each * window.limit));
  const isSame = last?.window.startMs === window.startMs && last.window.limit === window.limit;
  if (percent === 0 || (isSame && percent <= last.percent)) return undefined;
  return { percent, window, reachedAtMs: nowMs };
}

/** Adds reserved requests to the newest hour: they count as used until the exact state is stored. */
export function withReserve(outbox: Outbox, requests: number): Outbox {
  const hours = outbox.hours.map((hour, i) =>
    i === outbox.hours.length - 1 ? { ...hour, admitted: hour.admitted + requests } : hour,
  );
  return { ...outbox, hours };
}

function kept({ hours, isLastHourReported }: Outbox, isNewHour: boolean): readonly HourUsage[] {
  return isNewHour && !isLastHourReported ? hours : hours.slice(0, -1);
}

function count(before: HourUsage, verdict: Exclude<Counted, TooCostly>, nowMs: number): HourUsage {
  const hour = withLimits(before, verdict.quota);
  if (verdict.kind === "admitted") return { ...hour, admitted: hour.admitted + 1 };
  if (verdict.kind === "limited")
    return { ...addRefusal(hour, verdict.window.name, nowMs), refused: hour.refused + 1 };
  return { ...addRefusal(hour, "ban", nowMs), refusedWhileBanned: hour.refusedWhileBanned + 1 };
}

/** Limits rarely change, and each request of a burst pays for an object that is made for nothing. */
function withLimits(hour: HourUsage, quota: Counted["quota"]): HourUsage {
  if (quota.every(({ name, limit }) => hour.limits[name] === limit)) return hour;
  return { ...hour, limits: Object.fromEntries(quota.map(({ name, limit }) => [name, limit])) };
}

function addRefusal(hour: HourUsage, by: string, nowMs: number): HourUsage {
  const minute = Math.max(0, Math.floor((nowMs - hour.startMs) / MINUTE_MS));
  const isSame = (each: RefusedMinute) => each.minute === minute;
  const { by: before = {} } = hour.refusedMinutes.find(isSame) ?? {};
  const after = { minute, by: { ...before, [by]: (before[by] ?? 0) + 1 } };
  const others = hour.refusedMinutes.filter((each) => !isSame(each));
  return { ...hour, refusedMinutes: [...others, after] };
}

/** Returns bans, thresholds and ended hours that are not reported. `isAll` adds the current hour. */
export function pendingReport(
  outbox: Outbox,
  key: string,
  nowMs: number,
  isAll: boolean,
): Report | undefined {
  const hours = unreportedHours(outbox).filter((hour) => isAll || nowMs >= hour.startMs + HOUR_MS);
  if (hours.length === 0 && !isUrgent(outbox)) return undefined;
  return { key, hours, bans: outbox.bans, thresholds: outbox.thresholds };
}

/** Whether a report is due at once. */
export function isUrgent({ bans, thresholds }: Outbox): boolean {
  return bans.length + thresholds.length > 0;
}

export function unreportedHours({ hours, isLastHourReported }: Outbox): readonly HourUsage[] {
  return isLastHourReported ? hours.slice(0, -1) : hours;
}

/** Returns the outbox without what has arrived in the report. Everything that was added since stays. */
export function acknowledge(outbox: Outbox, report: Report): Outbox {
  const last = outbox.hours.at(-1);
  return {
    ...outbox,
    hours: outbox.hours.filter((hour) => hour === last || !report.hours.includes(hour)),
    isLastHourReported: outbox.isLastHourReported || (last !== undefined && report.hours.includes(last)),
    bans: outbox.bans.filter((ban) => !report.bans.includes(ban)),
    thresholds: outbox.thresholds.filter((each) => !report.thresholds.includes(each)),
    notBeforeMs: 0,
  };
}

/** Delays the next report to the key's own minute: after an outage, the keys' reports come in no burst. */
export function backOff(outbox: Outbox, key: string, nowMs: number): Outbox {
  const thisHourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS + ownMinuteMs(key);
  return { ...outbox, notBeforeMs: thisHourMs > nowMs ? thisHourMs : thisHourMs + HOUR_MS };
}

/** Returns the key's own minute in the next hour. Keys' minutes differ, so that reports come in no burst. */
export function hourDueAtMs({ startMs }: HourUsage, key: string): number {
  return startMs + HOUR_MS + ownMinuteMs(key);
}

/** Returns a time within an hour that depends on the key alone. */
function ownMinuteMs(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i++) hash = (hash * 31 + key.charCodeAt(i)) >>> 0;
  return (hash % 60) * MINUTE_MS;
}

/** Returns when the newest hour is over, or 0 without an hour. */
export function hoursEndAtMs({ hours }: Outbox): number {
  return (hours.at(-1)?.startMs ?? -HOUR_MS) + HOUR_MS;
}
