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
/** The largest number in a structured field. */
const MAX_AMOUNT = 999_999_999_999_999;
/** The unit of a limit and of a cost that name none. */
const REQUESTS = "requests";

/** A window's length: a number of seconds that divides a day, a week from Monday on, or a calendar month. */
export type WindowLength = number | "month";

type Named = { readonly name: string; readonly seconds: WindowLength };
export type RequestLimit = Named & {
  readonly requests: number;
  readonly unit?: never;
  readonly amount?: never;
};
type UnitLimit<Unit extends string> = Named & {
  readonly unit: Unit;
  readonly amount: number;
  readonly requests?: never;
};

/**
 * Admits at most `requests`, or `amount` of another unit, in each window, from 0 on.
 *
 * @example
 * const limits: Limit<"tokens">[] = [
 *   { name: "minute", requests: 60, seconds: 60 },
 *   { name: "tokens", unit: "tokens", amount: 90_000, seconds: 60 },
 * ];
 */
export type Limit<Unit extends string = typeof REQUESTS> = RequestLimit | UnitLimit<Unit | typeof REQUESTS>;

/** How much of each unit, from 0 on. What is 0 or left out is not counted, but one request if that is left out. */
export type Costs<Unit extends string = typeof REQUESTS> = {
  readonly [unit in Unit | typeof REQUESTS]?: number | undefined;
};
/** A number is a cost in requests. */
export type Cost<Unit extends string = typeof REQUESTS> = number | Costs<Unit>;

export const perMinute = (requests: number): RequestLimit => ({ name: "minute", requests, seconds: 60 });
export const perHour = (requests: number): RequestLimit => ({ name: "hour", requests, seconds: 3_600 });
export const perDay = (requests: number): RequestLimit => ({ name: "day", requests, seconds: DAY_SECONDS });
/** A week from Monday, UTC. */
export const perWeek = (requests: number): RequestLimit => ({
  name: "week",
  requests,
  seconds: WEEK_SECONDS,
});
/** A calendar month, UTC. */
export const perMonth = (requests: number): RequestLimit => ({ name: "month", requests, seconds: "month" });

/** A window is known by its unit, length and start: a new name or limit resets no count. */
export type Window = { readonly unit: string; readonly seconds: WindowLength; readonly startMs: number };
/** How much of a window is used. */
export type Count = Window & { readonly used: number };

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
export function checkLimits(limits: readonly Limit<string>[]): void {
  if (limits.length < 1 || limits.length > MAX_WINDOWS)
    throw new RangeError(`limits: there must be 1 to ${MAX_WINDOWS} windows, not ${limits.length}`);
  for (const limit of limits) {
    const { name, seconds } = limit;
    // Both are quoted strings in the headers.
    for (const [what, text] of Object.entries({ name, unit: unitOf(limit) }))
      if (!/^[\w-]{1,32}$/.test(text))
        throw new RangeError(
          `limits: the ${what} ${JSON.stringify(text)} must be 1 to 32 of A-Z a-z 0-9 _ -`,
        );
    const amount = amountOf(limit);
    if (!Number.isInteger(amount) || amount < 0 || amount > MAX_AMOUNT)
      throw new RangeError(
        `limits: ${limit.unit === undefined ? "requests" : "amount"} of "${name}" must be a whole number from 0 to ${MAX_AMOUNT}`,
      );
    if (!isLength(seconds))
      throw new RangeError(
        `limits: seconds of "${name}" must divide a day, or be ${WEEK_SECONDS} or "month"`,
      );
  }
  const isRepeated = (of: (limit: Limit<string>) => unknown) => new Set(limits.map(of)).size < limits.length;
  // The next draft of the headers compares names without case.
  if (
    isRepeated(({ name }) => name.toLowerCase()) ||
    isRepeated((limit) => `${unitOf(limit)} ${limit.seconds}`)
  )
    throw new RangeError("limits: two windows have the same name, or the same length and unit");
}

function unitOf({ unit = REQUESTS }: Limit<string>): string {
  return unit;
}

function amountOf(limit: Limit<string>): number {
  return limit.unit === undefined ? limit.requests : limit.amount;
}

/** Throws a RangeError for a wrong cost. A settled cost may be 0. */
export function checkCost(cost: Cost<string>, least: 0 | 1): void {
  const amounts = typeof cost === "number" ? [cost] : Object.values(cost);
  const isWhole = (amount = 0) => Number.isInteger(amount) && amount >= 0;
  if (!amounts.every(isWhole) || (typeof cost === "number" && cost < least))
    throw new RangeError(`cost must be a whole number from ${least} on, or such numbers by unit, from 0 on`);
}

/** Throws a RangeError if the cost is in a unit that no limit counts. */
export function checkUnits(limits: readonly Limit<string>[], cost: Cost<string> = 1): void {
  const units = typeof cost === "number" ? [REQUESTS] : Object.keys(cost).filter((unit) => unit !== REQUESTS);
  const unknown = units.find((unit) => !limits.some((limit) => unitOf(limit) === unit));
  if (unknown !== undefined) throw new RangeError(`cost: no limit counts "${unknown}"`);
}

/** Returns the costs of a request: one request, unless the cost says otherwise. */
export function costsOf(cost: Cost<string> = 1): Costs<string> {
  return typeof cost === "number" ? { requests: cost } : { ...cost, requests: cost.requests ?? 1 };
}

/** During a deploy an object of an older version may answer, whose windows name no unit. */
export function costIn(costs: Costs<string>, { unit = REQUESTS }: Partial<Window>): number {
  return costs[unit] ?? 0;
}

export function isSameWindow(a: Window, b: Window): boolean {
  return isSameKind(a, b) && a.startMs === b.startMs;
}

/** Whether one follows the other. */
export function isSameKind(a: Omit<Window, "startMs">, b: Omit<Window, "startMs">): boolean {
  return a.seconds === b.seconds && a.unit === b.unit;
}

function isLength(seconds: WindowLength): boolean {
  if (typeof seconds !== "number") return seconds === "month";
  return (
    seconds === WEEK_SECONDS || (Number.isInteger(seconds) && seconds > 0 && DAY_SECONDS % seconds === 0)
  );
}

/** Returns the windows at `nowMs`. If the clock ran back, the newest window that counted goes on. */
export function quotaAt(counts: readonly Count[], limits: readonly Limit<string>[], nowMs: number): Quota {
  return limits.map((limit) => {
    const kind = { unit: unitOf(limit), seconds: limit.seconds };
    const startMs = startOf(nowMs, limit.seconds);
    const last = counts.find((count) => isSameKind(count, kind));
    const count = last && last.startMs >= startMs ? last : { ...kind, startMs, used: 0 };
    return viewOf(count, limit.name, amountOf(limit));
  });
}

function viewOf({ unit, seconds, startMs, used }: Count, name: string, limit: number): WindowView {
  const remaining = Math.max(0, limit - used);
  return { name, limit, unit, seconds, startMs, used, remaining, endsAtMs: endOf({ seconds, startMs }) };
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

/** Adds to each window what its unit costs, so many times. */
export function spend(quota: Quota, costs: Costs<string>, times = 1): Quota {
  return quota.map((window) =>
    viewOf({ ...window, used: window.used + times * costIn(costs, window) }, window.name, window.limit),
  );
}

/** Returns the windows in which a request with these costs is counted. */
export function countedBy(quota: Quota, costs: Costs<string>): Quota {
  return quota.filter((window) => costIn(costs, window) > 0);
}

/**
 * Returns the window that refuses a request. If several refuse, the client has to wait for the last end, and
 * for ever if the cost is above a limit.
 */
export function exhaustedWindow(quota: Quota, costs: Costs<string>): WindowView | undefined {
  const endOf = (window: WindowView) =>
    costIn(costs, window) > window.limit ? Number.MAX_SAFE_INTEGER : window.endsAtMs;
  return countedBy(quota, costs)
    .filter((window) => window.used + costIn(costs, window) > window.limit)
    .toSorted((a, b) => endOf(b) - endOf(a) || a.startMs - b.startMs)[0];
}

/** Returns the shortest window, and of two in different units the one with the lower limit. */
export function smallestWindow(quota: Quota): WindowView | undefined {
  return quota.toSorted((a, b) => lengthMsOf(a) - lengthMsOf(b) || a.limit - b.limit)[0];
}

export function lengthMsOf({ startMs, endsAtMs }: WindowView): number {
  return endsAtMs - startMs;
}

/** Returns the counts to keep: of `quota`, and of windows without a limit now until they are over. */
export function countsOf(quota: Quota, before: readonly Count[], nowMs: number): readonly Count[] {
  const unnamed = before.filter(
    (count) => nowMs < endOf(count) && !quota.some((window) => isSameKind(window, count)),
  );
  return [...quota.map(({ unit, seconds, startMs, used }) => ({ unit, seconds, startMs, used })), ...unnamed];
}

export function endOf({ startMs, seconds }: Omit<Window, "unit">): number {
  return seconds === "month" ? startOfMonth(startMs, 1) : startMs + seconds * 1000;
}
