/**
 * Fixed windows, aligned to UTC, and how much of each is used. All windows of a key are counted in one step.
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */

const DAY_SECONDS = 86_400;
const WEEK_SECONDS = 604_800;
/** 1 January 1970 was a Thursday. */
const FIRST_MONDAY_MS = 4 * 86_400_000;
const MAX_WINDOWS = 4;
const MAX_REQUESTS = 1_000_000_000;

/** A window's length: a number of seconds that divides a day, a week from Monday on, or a calendar month. */
export type WindowLength = number | "month";

/** Admits at most `requests` in each window, from 0 on. */
export type Limit = { readonly name: string; readonly requests: number; readonly seconds: WindowLength };

export const perMinute = (requests: number): Limit => ({ name: "minute", requests, seconds: 60 });
export const perHour = (requests: number): Limit => ({ name: "hour", requests, seconds: 3_600 });
export const perDay = (requests: number): Limit => ({ name: "day", requests, seconds: DAY_SECONDS });
/** A week from Monday, UTC. */
export const perWeek = (requests: number): Limit => ({ name: "week", requests, seconds: WEEK_SECONDS });
/** A calendar month, UTC. */
export const perMonth = (requests: number): Limit => ({ name: "month", requests, seconds: "month" });

/** How much of a window is used. The length names the window: a new name or limit resets no count. */
export type Count = { readonly seconds: WindowLength; readonly startMs: number; readonly used: number };

/** A window as a client sees it. `remaining` is never negative, also after the limit was lowered. */
export type WindowView = Count & {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly endsAtMs: number;
};

/** One window for each limit, in the order of the limits. */
export type Quota = readonly WindowView[];

/** Throws a RangeError that says what is wrong with the limits. */
export function checkLimits(limits: readonly Limit[]): void {
  if (limits.length < 1 || limits.length > MAX_WINDOWS)
    throw new RangeError(`limits: there must be 1 to ${MAX_WINDOWS} windows, not ${limits.length}`);
  for (const { name, requests, seconds } of limits) {
    // The name is a quoted string in the headers.
    if (!/^[\w-]{1,32}$/.test(name))
      throw new RangeError(`limits: the name ${JSON.stringify(name)} must be 1 to 32 of A-Z a-z 0-9 _ -`);
    if (!Number.isInteger(requests) || requests < 0 || requests > MAX_REQUESTS)
      throw new RangeError(`limits: requests of "${name}" must be a whole number from 0 to ${MAX_REQUESTS}`);
    if (!isLength(seconds))
      throw new RangeError(
        `limits: seconds of "${name}" must divide a day, or be ${WEEK_SECONDS} or "month"`,
      );
  }
  const isRepeated = (of: (limit: Limit) => unknown) => new Set(limits.map(of)).size < limits.length;
  // The next draft of the headers compares names without case.
  if (isRepeated(({ name }) => name.toLowerCase()) || isRepeated(({ seconds }) => seconds))
    throw new RangeError("limits: two windows have the same name or the same length");
}

function isLength(seconds: WindowLength): boolean {
  if (typeof seconds !== "number") return seconds === "month";
  return (
    seconds === WEEK_SECONDS || (Number.isInteger(seconds) && seconds > 0 && DAY_SECONDS % seconds === 0)
  );
}

/** Returns the windows at `nowMs`. If the clock ran back, the newest window that counted goes on. */
export function quotaAt(counts: readonly Count[], limits: readonly Limit[], nowMs: number): Quota {
  return limits.map(({ name, requests, seconds }) => {
    const startMs = startOf(nowMs, seconds);
    const last = counts.find((count) => count.seconds === seconds);
    const count = last && last.startMs >= startMs ? last : { seconds, startMs, used: 0 };
    return viewOf(count, name, requests);
  });
}

function viewOf({ seconds, startMs, used }: Count, name: string, limit: number): WindowView {
  const remaining = Math.max(0, limit - used);
  return { name, limit, seconds, startMs, used, remaining, endsAtMs: endOf({ seconds, startMs }) };
}

export function startOf(atMs: number, seconds: WindowLength): number {
  if (seconds === "month") return startOfMonth(atMs, 0);
  const firstMs = seconds === WEEK_SECONDS ? FIRST_MONDAY_MS : 0;
  return Math.floor((atMs - firstMs) / (seconds * 1000)) * seconds * 1000 + firstMs;
}

function startOfMonth(atMs: number, later: 0 | 1): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later);
}

/** Adds `cost` to every window. */
export function spend(quota: Quota, cost: number): Quota {
  return quota.map((window) => viewOf({ ...window, used: window.used + cost }, window.name, window.limit));
}

/** Returns the window that refuses a request. If several refuse, the client has to wait for the last end. */
export function exhaustedWindow(quota: Quota, cost: number): WindowView | undefined {
  return quota
    .filter(({ used, limit }) => used + cost > limit)
    .toSorted((a, b) => b.endsAtMs - a.endsAtMs || a.startMs - b.startMs)[0];
}

/** `checkLimits` makes sure that there is at least one window. */
export function smallestWindow(quota: Quota): WindowView {
  return quota.reduce((a, b) => (lengthMsOf(b) < lengthMsOf(a) ? b : a));
}

export function lengthMsOf({ startMs, endsAtMs }: WindowView): number {
  return endsAtMs - startMs;
}

/** Returns the counts to keep: of `quota`, and of windows without a limit now until they are over. */
export function countsOf(quota: Quota, before: readonly Count[], nowMs: number): readonly Count[] {
  const unnamed = before.filter(
    (count) => nowMs < endOf(count) && !quota.some(({ seconds }) => seconds === count.seconds),
  );
  return [...quota.map(({ seconds, startMs, used }) => ({ seconds, startMs, used })), ...unnamed];
}

export function endOf({ startMs, seconds }: Pick<Count, "startMs" | "seconds">): number {
  return seconds === "month" ? startOfMonth(startMs, 1) : startMs + seconds * 1000;
}
