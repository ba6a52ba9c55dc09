/**
 * Usage by hour, bans and thresholds, until they are reported, and when a report is due. Figures are absolute,
 * so a report can come twice.
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */
import type { Ban } from "./bans.ts";
import type { Counted, Thresholds, TooCostly, Verdict } from "./decide.ts";
import type { WindowView } from "./windows.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A day's figure is reported when it has grown by this share, and by this number. */
const GROWTH = { share: 0.25, requests: 5 };
/** Growth is not reported within this time of the last report. */
export const PAUSE_MS = 5_000;
/**
 * How long bans and thresholds wait after each failed report. The last wait repeats, so that after a long
 * outage a ban is reported within two minutes.
 */
const RETRY_MINUTES = [1, 2, 4, 8, 2];
/** Each write stores all that is not reported: at most this many hours, bans and thresholds, the newest. */
const MAX_KEPT = 48;
/** Each write stores them all. */
const MAX_CREDENTIALS = 10;

/** Refusals in one minute of the hour, 0 to 59. `by` counts them by the name of the window, or "ban". */
export type RefusedMinute = { readonly minute: number; readonly by: Readonly<Record<string, number>> };

type Figures = { readonly admitted: number; readonly refused: number; readonly refusedWhileBanned: number };

/** The usage of one UTC hour. */
export type HourUsage = Figures & {
  readonly startMs: number;
  readonly refusedMinutes: readonly RefusedMinute[];
  /** The limit of each window, by its name, at the newest request. */
  readonly limits: Readonly<Record<string, number>>;
};

/** The key has used this share of a window for the first time in the window and under this limit. */
export type ReachedThreshold = {
  readonly percent: number;
  readonly window: WindowView;
  readonly reachedAtMs: number;
};

/** The minute of the last request with this credential, also of a refused one. */
export type CredentialUse = { readonly hash: string; readonly lastUsedMs: number };

export type Report = {
  readonly key: string;
  readonly hours: readonly HourUsage[];
  readonly bans: readonly Ban[];
  readonly thresholds: readonly ReachedThreshold[];
  /** Those that were used last, ten at most, also such as the policy has no longer. */
  readonly credentials: readonly CredentialUse[];
};

/** The newest UTC day's figures, and those of the last report. */
type DayUsage = {
  readonly startMs: number;
  readonly counted: Figures;
  readonly reported: Figures;
  readonly reportedAtMs: number;
};

export type Outbox = {
  /** Oldest first. The last hour stays after its report: a clock that ran back counts into the hour again. */
  readonly hours: readonly HourUsage[];
  readonly isLastHourReported: boolean;
  /** When the first request came that is not reported, if there is one. */
  readonly waitingSinceMs: number;
  readonly bans: readonly Ban[];
  readonly thresholds: readonly ReachedThreshold[];
  readonly lastThreshold: ReachedThreshold | null;
  /** Not emptied by a report. */
  readonly credentials: readonly CredentialUse[];
  readonly day: DayUsage;
  /** The reports that have failed since the last success, and since the last ban or threshold. */
  readonly failures: { readonly count: number; readonly lastAtMs: number };
};

const FIGURE_OF = { admitted: "admitted", limited: "refused", banned: "refusedWhileBanned" } as const;
const FIGURES = Object.values(FIGURE_OF);
const NO_FIGURES: Figures = { admitted: 0, refused: 0, refusedWhileBanned: 0 };
const NO_FAILURES = { count: 0, lastAtMs: 0 };

export const EMPTY_OUTBOX: Outbox = {
  hours: [],
  isLastHourReported: true,
  waitingSinceMs: 0,
  bans: [],
  thresholds: [],
  lastThreshold: null,
  credentials: [],
  day: { startMs: 0, counted: NO_FIGURES, reported: NO_FIGURES, reportedAtMs: 0 },
  failures: NO_FAILURES,
};

/** A ban that the decision began, the thresholds to check, and the credential that the policy has accepted. */
export type Event = {
  readonly begun: Ban | null;
  readonly thresholds: Thresholds | undefined;
  readonly credential: string | undefined;
};

export const NO_REQUESTS: Omit<HourUsage, "startMs"> = { ...NO_FIGURES, refusedMinutes: [], limits: {} };

/**
 * Adds a verdict to the newest hour, a ban that began, and a threshold that was reached. `hasNews` says that a
 * ban or a threshold was added, which must be stored at once.
 */
export function record(
  outbox: Outbox,
  verdict: Verdict,
  { begun, thresholds, credential }: Event,
  nowMs: number,
): { readonly outbox: Outbox; readonly hasNews: boolean } {
  if (verdict.kind === "unknown" || verdict.kind === "too_costly") return { outbox, hasNews: false };
  const last = outbox.hours.at(-1);
  const startMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  const isNew = last === undefined || startMs > last.startMs;
  const hour = isNew ? { ...NO_REQUESTS, startMs } : last;
  const reached = thresholds && reachedThreshold(outbox, verdict, thresholds, nowMs);
  const hasNews = begun !== null || reached !== undefined;
  const recorded = {
    ...outbox,
    hours: [...kept(outbox, isNew), count(hour, verdict, nowMs)].slice(-MAX_KEPT),
    isLastHourReported: false,
    waitingSinceMs: unreportedHours(outbox).length === 0 ? nowMs : outbox.waitingSinceMs,
    day: countDay(outbox.day, FIGURE_OF[verdict.kind], 1, nowMs),
    credentials: withUse(outbox.credentials, credential, nowMs),
    bans: begun ? [...outbox.bans, begun].slice(-MAX_KEPT) : outbox.bans,
    ...(reached && {
      thresholds: [...outbox.thresholds, reached].slice(-MAX_KEPT),
      lastThreshold: reached,
    }),
    ...(hasNews && { failures: NO_FAILURES }),
  };
  return { outbox: recorded, hasNews };
}

/** Once a minute, or each request of a burst would pay for a list that is made for nothing. */
function withUse(
  uses: Outbox["credentials"],
  hash: string | undefined,
  nowMs: number,
): Outbox["credentials"] {
  const lastUsedMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  if (hash === undefined || uses.some((use) => use.hash === hash && use.lastUsedMs >= lastUsedMs))
    return uses;
  return [{ hash, lastUsedMs }, ...uses.filter((use) => use.hash !== hash)].slice(0, MAX_CREDENTIALS);
}

function countDay(before: DayUsage, figure: keyof Figures, requests: number, nowMs: number): DayUsage {
  const startMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const day = startMs > before.startMs ? { ...EMPTY_OUTBOX.day, startMs } : before;
  return { ...day, counted: { ...day.counted, [figure]: day.counted[figure] + requests } };
}

function reachedThreshold(
  { lastThreshold: last }: Outbox,
  { quota }: Counted,
  { window: name, percents }: Thresholds,
  nowMs: number,
): ReachedThreshold | undefined {
  const window = quota.find((each) => each.name === name);
  // A limit of 0 has no shares.
  if (window === undefined || window.limit === 0) return undefined;
  const percent = Math.max(0, ...percents.filter((each) => 100 * window.used >= each * window.limit));
  const isSame = last?.window.startMs === window.startMs && last.window.limit === window.limit;
  if (percent === 0 || (isSame && percent <= last.percent)) return undefined;
  return { percent, window, reachedAtMs: nowMs };
}

/** Adds reserved requests to the newest hour and its day, as used until the exact state is stored. */
export function withReserve(outbox: Outbox, requests: number): Outbox {
  const last = outbox.hours.at(-1);
  if (last === undefined) return outbox;
  const hours = [...outbox.hours.slice(0, -1), { ...last, admitted: last.admitted + requests }];
  return { ...outbox, hours, day: countDay(outbox.day, "admitted", requests, outbox.day.startMs) };
}

/** Whether none of the figures of the newest hour is lower in what is stored. Earlier hours change no more. */
export function coversUsage(
  stored: Outbox,
  outbox: Outbox,
  figures: readonly (keyof Figures)[] = FIGURES,
): boolean {
  const [last, hour] = [stored.hours.at(-1), outbox.hours.at(-1)];
  if (hour === undefined) return true;
  return last?.startMs === hour.startMs && figures.every((name) => last[name] >= hour[name]);
}

function kept({ hours, isLastHourReported }: Outbox, isNewHour: boolean): readonly HourUsage[] {
  return isNewHour && !isLastHourReported ? hours : hours.slice(0, -1);
}

function count(before: HourUsage, verdict: Exclude<Counted, TooCostly>, nowMs: number): HourUsage {
  const hour = withLimits(before, verdict.quota);
  const figure = FIGURE_OF[verdict.kind];
  const counted = { ...hour, [figure]: hour[figure] + 1 };
  if (verdict.kind === "admitted") return counted;
  return addRefusal(counted, verdict.kind === "limited" ? verdict.window.name : "ban", nowMs);
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

/** Returns the minute of the newest refusal, or null. The last hour is kept after its report. */
export function lastRefusalMs({ hours }: Outbox): number | null {
  const { startMs, refusedMinutes = [] } = hours.at(-1) ?? {};
  if (startMs === undefined || refusedMinutes.length === 0) return null;
  return startMs + Math.max(...refusedMinutes.map(({ minute }) => minute)) * MINUTE_MS;
}

/** Returns everything that is not reported, also of the present hour. */
export function pendingReport(outbox: Outbox, key: string): Report | undefined {
  const hours = unreportedHours(outbox);
  if (hours.length === 0 && !isUrgent(outbox)) return undefined;
  const { bans, thresholds, credentials } = outbox;
  return { key, hours, bans, thresholds, credentials };
}

/** Whether bans or thresholds wait, which are reported at once. */
export function isUrgent({ bans, thresholds }: Outbox): boolean {
  return bans.length + thresholds.length > 0;
}

export function unreportedHours({ hours, isLastHourReported }: Outbox): readonly HourUsage[] {
  return isLastHourReported ? hours.slice(0, -1) : hours;
}

/** Returns when bans, thresholds or the day's growth are due, or null if none of them waits. */
export function newsDueAtMs(outbox: Outbox): number | null {
  if (isUrgent(outbox)) return retryAtMs(outbox);
  if (unreportedHours(outbox).length === 0) return null;
  return hasGrown(outbox.day) ? Math.max(retryAtMs(outbox), outbox.day.reportedAtMs + PAUSE_MS) : null;
}

/** Whether a figure has doubled, or, once that is more than 5 requests, has grown by 5 and by a quarter. */
function hasGrown({ counted, reported }: DayUsage): boolean {
  return FIGURES.some((name) => {
    const least = Math.max(1, Math.min(reported[name], GROWTH.requests), GROWTH.share * reported[name]);
    return counted[name] - reported[name] >= least;
  });
}

/** After a failure, thousands of limiters must not call at once: bans wait some minutes, and hours longer. */
function retryAtMs({ failures: { count, lastAtMs } }: Outbox): number {
  const minutes = RETRY_MINUTES[Math.min(count, RETRY_MINUTES.length) - 1] ?? 0;
  return lastAtMs + minutes * MINUTE_MS;
}

/** Returns the key's next own minute, when any usage is reported, or null if all usage is reported. */
export function usageDueAtMs(outbox: Outbox, key: string): number | null {
  if (unreportedHours(outbox).length === 0) return null;
  return ownMinuteAfter(Math.max(outbox.waitingSinceMs, outbox.failures.lastAtMs), key);
}

/** Returns the outbox without what has arrived: what it was when the report began, at `reportedAtMs`. */
export function acknowledge(outbox: Outbox, reported: Outbox, reportedAtMs: number): Outbox {
  const last = outbox.hours.at(-1);
  const { bans, thresholds } = reported;
  const isReported = (hour: HourUsage) => reported.hours.some((each) => hasSameFigures(each, hour));
  return {
    ...outbox,
    hours: outbox.hours.filter((hour) => hour === last || !isReported(hour)),
    isLastHourReported: outbox.isLastHourReported || (last !== undefined && isReported(last)),
    waitingSinceMs: reportedAtMs,
    bans: outbox.bans.filter(({ id }) => !bans.some((ban) => ban.id === id)),
    thresholds: outbox.thresholds.filter((each) => !thresholds.some((sent) => isSameThreshold(each, sent))),
    day:
      outbox.day.startMs === reported.day.startMs
        ? { ...outbox.day, reported: reported.day.counted, reportedAtMs }
        : outbox.day,
    failures: NO_FAILURES,
  };
}

/** An hour's figures only grow, so an hour with the same figures is the same report. */
function hasSameFigures(a: HourUsage, b: HourUsage): boolean {
  return a.startMs === b.startMs && FIGURES.every((name) => a[name] === b[name]);
}

function isSameThreshold(a: ReachedThreshold, b: ReachedThreshold): boolean {
  return (
    a.percent === b.percent && a.window.startMs === b.window.startMs && a.window.limit === b.window.limit
  );
}

/** Notes that the report that began at `startedAtMs` has failed. */
export function fail(outbox: Outbox, startedAtMs: number): Outbox {
  return { ...outbox, failures: { count: outbox.failures.count + 1, lastAtMs: startedAtMs } };
}

/** Keys' minutes differ, so that neither hourly reports nor reports after an outage come in a burst. */
function ownMinuteAfter(atMs: number, key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i++) hash = (hash * 31 + key.charCodeAt(i)) >>> 0;
  const thisHourMs = Math.floor(atMs / HOUR_MS) * HOUR_MS + (hash % 60) * MINUTE_MS;
  return thisHourMs > atMs ? thisHourMs : thisHourMs + HOUR_MS;
}

/** Returns when the newest hour is over, or 0 without an hour. */
export function hoursEndAtMs({ hours }: Outbox): number {
  return (hours.at(-1)?.startMs ?? -HOUR_MS) + HOUR_MS;
}
