/** What operators must be told of a key: its requests by hour, its bans, and the shares that it has reached. */
import type { Thresholds } from "../../core/decide.ts";
import type { HourUsage, Outbox } from "../../core/usage.ts";
import type { Report } from "../../index.ts";
import { Difference, expect } from "./difference.ts";

type Figures = { readonly admitted: number; readonly refused: number; readonly refusedWhileBanned: number };
type Told = Figures & { readonly startMs: number };
/** Refusals by their minute and the window or ban that refused. */
type Hour = Told & {
  readonly refusals: readonly Refusals[];
  readonly limits: Readonly<Record<string, number>>;
};
type Refusals = { readonly atMs: number; readonly by: string; readonly count: number };
type News = { readonly id: string; readonly isHeard: boolean };
type View = {
  readonly name: string;
  readonly startMs: number;
  readonly limit: number;
  readonly used: number;
};
type Decision = {
  readonly kind: string;
  readonly quota: readonly View[];
  readonly window?: View | undefined;
};
type Share = { readonly startMs: number; readonly limit: number; readonly percent: number };

export type Usage = {
  readonly hours: readonly Hour[];
  /** The figures that the receiver has. */
  readonly heard: readonly Told[];
  readonly heardAtMs: number;
  /** Whether the object knows what was heard: no answer was lost and no crash came since. */
  readonly isKnown: boolean;
  readonly bans: readonly News[];
  readonly shares: readonly News[];
  readonly lastShare: Share | null;
  readonly failures: number;
  readonly failedAtMs: number;
  readonly alarmAtMs: number | null;
};

export const UNUSED: Usage = {
  hours: [],
  heard: [],
  heardAtMs: 0,
  isKnown: true,
  bans: [],
  shares: [],
  lastShare: null,
  failures: 0,
  failedAtMs: 0,
  alarmAtMs: null,
};

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const FIGURES = ["admitted", "refused", "refusedWhileBanned"] as const;
const RETRY_MINUTES = [0, 1, 2, 4, 8, 2];

const isWaiting = ({ isHeard }: News) => !isHeard;
const figuresOf = (all: readonly Told[]) =>
  all.map(({ startMs, admitted, refused, refusedWhileBanned }) => [
    startMs,
    admitted,
    refused,
    refusedWhileBanned,
  ]);

export function count(
  usage: Usage,
  { kind, quota, window: by }: Decision,
  begun: string | undefined,
  { window: name, percents }: Thresholds,
  now: number,
): Usage {
  const figure = ({ admitted: "admitted", limited: "refused", banned: "refusedWhileBanned" } as const)[kind];
  if (figure === undefined) return usage;
  // A clock that ran back counts into the newest hour.
  const startMs = Math.max(now - (now % HOUR_MS), ...usage.hours.map((hour) => hour.startMs));
  const known = usage.hours.find((hour) => hour.startMs === startMs);
  const { refusals = [], ...hour } = known ?? { startMs, admitted: 0, refused: 0, refusedWhileBanned: 0 };
  const minute = {
    atMs: Math.max(startMs, now - (now % 60_000)),
    by: kind === "banned" ? "ban" : `${by?.name}`,
  };
  const counted = {
    ...hour,
    [figure]: hour[figure] + 1,
    refusals: kind === "admitted" ? refusals : addRefusal(refusals, minute),
    limits: Object.fromEntries(quota.map((each) => [each.name, each.limit])),
  };
  const hours = [...usage.hours.filter((each) => each !== known), counted];
  const window = quota.find((each) => each.name === name);
  const reached = percents.filter((each) => window && window.used >= (each / 100) * window.limit);
  const share = window && { startMs: window.startMs, limit: window.limit, percent: Math.max(0, ...reached) };
  const { lastShare: last } = usage;
  const isSame = last && last.startMs === share?.startMs && last.limit === share.limit;
  const isNew = share !== undefined && share.percent > (isSame ? last.percent : 0);
  return {
    ...usage,
    hours,
    ...(begun !== undefined && { bans: [...usage.bans, { id: begun, isHeard: false }] }),
    ...(isNew && { lastShare: share, shares: [...usage.shares, { id: idOf(share), isHeard: false }] }),
    ...((begun !== undefined || isNew) && { failures: 0, failedAtMs: 0 }),
  };
}

function addRefusal(all: readonly Refusals[], minute: Omit<Refusals, "count">): readonly Refusals[] {
  const isIt = ({ atMs, by }: Refusals) => atMs === minute.atMs && by === minute.by;
  const count = (all.find(isIt)?.count ?? 0) + 1;
  return [...all.filter((each) => !isIt(each)), { ...minute, count }];
}

function refusalsOf({ startMs, refusedMinutes }: HourUsage): readonly Refusals[] {
  return refusedMinutes.flatMap(({ minute, by }) =>
    Object.entries(by).map(([name, count]) => ({ atMs: startMs + minute * 60_000, by: name, count })),
  );
}

/** In one order. */
const listOf = (all: readonly Refusals[]) =>
  all.map(({ atMs, by, count }) => `${atMs} ${by} ${count}`).sort();

const idOf = ({ percent, startMs, limit }: Share) => `${percent} % of ${limit} at ${startMs}`;

/** A receiver that keeps the newest figures: they never go down, and are never more than was decided. */
export function hear(usage: Usage, { hours, bans, thresholds }: Report): Usage {
  if (hours.length + bans.length + thresholds.length === 0) throw new Difference("an empty report");
  for (const hour of hours) {
    const decided = usage.hours.filter(({ startMs }) => startMs === hour.startMs);
    expect("reported hour", figuresOf([hour]), figuresOf(decided));
    expect("reported limits", hour.limits, decided[0]?.limits);
    expect("reported refusals", listOf(refusalsOf(hour)), listOf(decided[0]?.refusals ?? []));
    const before = usage.heard.find(({ startMs }) => startMs === hour.startMs);
    if (FIGURES.some((name) => before && hour[name] < before[name]))
      throw new Difference("a figure went down");
  }
  const told = hours.map(({ startMs, admitted, refused, refusedWhileBanned }) => ({
    ...{ startMs, admitted, refused, refusedWhileBanned },
  }));
  const shares = thresholds.map(({ percent, window }) => idOf({ percent, ...window }));
  return {
    ...usage,
    heard: [...usage.heard.filter(({ startMs }) => !hours.some((hour) => hour.startMs === startMs)), ...told],
    bans: heardOf(
      usage.bans,
      bans.map(({ id }) => id),
      usage.isKnown,
    ),
    shares: heardOf(usage.shares, shares, usage.isKnown),
  };
}

function heardOf(all: readonly News[], ids: readonly string[], isKnown: boolean): readonly News[] {
  const expected = all.filter((each) => isWaiting(each) || !isKnown);
  for (const id of ids) if (!expected.some((each) => each.id === id)) throw new Difference(`no news: ${id}`);
  return all.map((each) => (ids.includes(each.id) ? { ...each, isHeard: true } : each));
}

/** When a ban or a share must be reported, or undefined if none waits. */
export function newsDueAtMs(usage: Usage): number | undefined {
  return [...usage.bans, ...usage.shares].some(isWaiting) ? retryAtMs(usage) : undefined;
}

const retryAtMs = ({ failures, failedAtMs }: Usage) =>
  failedAtMs + (RETRY_MINUTES[Math.min(failures, 5)] ?? 0) * 60_000;

type Growth = { readonly decided: number; readonly told: number };

function growthOf({ hours, heard }: Usage, now: number): readonly Growth[] {
  const dayMs = now - (now % DAY_MS);
  const sum = (all: readonly Told[], name: (typeof FIGURES)[number]) =>
    all.filter(({ startMs }) => startMs >= dayMs).reduce((total, hour) => total + hour[name], 0);
  return FIGURES.map((name) => ({ decided: sum(hours, name), told: sum(heard, name) }));
}

/** What may be unknown of the day while no report has failed and five seconds have passed. */
export function checkLag(usage: Usage, now: number): void {
  for (const { decided, told } of growthOf(usage, now)) {
    const most = told < 5 ? Math.min(4, decided / 2) : Math.max(4, told / 4);
    if (decided - told > most) throw new Difference(`told ${told} of ${decided}`);
  }
}

/** A report costs rows: it waits until a figure of the day has doubled, or has grown by a quarter and by 5. */
export function checkNeed(usage: Usage, now: number): void {
  const isGrown = growthOf(usage, now).some(({ decided, told }) => {
    const isQuarter = decided - told >= 5 && 4 * (decided - told) >= told;
    return decided > told && (decided >= 2 * told || isQuarter);
  });
  const isNeeded = isGrown || [...usage.bans, ...usage.shares].some(isWaiting) || !usage.isKnown;
  expect("a report that is not needed", isNeeded, true);
  expect("a report before its time", now < retryAtMs(usage), false);
}

/** Keys report what nobody waits for in minutes of their own. This is that of the machine's key. */
const OWN_MINUTE = 59;

export function checkAlarm(usage: Usage, alarmAtMs: number, now: number): void {
  const isLost = usage.alarmAtMs !== null && usage.alarmAtMs <= now;
  const hasNews = [...usage.bans, ...usage.shares].some(isWaiting);
  if (!usage.isKnown || hasNews || isLost || isAllHeard(usage)) return;
  expect("the minute of an hourly report", Math.floor((alarmAtMs % HOUR_MS) / 60_000), OWN_MINUTE);
}

/** A crash can lose refusals that were not reported, and no admitted request. It can add what was reserved. */
export function crashed(usage: Usage, outbox: Outbox | undefined, mayAdd: number): Usage {
  const hours = usage.hours.flatMap((hour) => {
    const row = outbox?.hours.find(({ startMs }) => startMs === hour.startMs);
    const told = usage.heard.find(({ startMs }) => startMs === hour.startMs);
    const isHeard = String(figuresOf([hour])) === String(figuresOf(told ? [told] : []));
    if (row === undefined && hour !== usage.hours.at(-1) && isHeard) return [hour];
    if (row === undefined && hour.admitted === 0 && told === undefined) return [];
    if (row === undefined) throw new Difference("a crash has lost an hour");
    const added = row.admitted - hour.admitted;
    if (added < 0 || added > mayAdd) throw new Difference(`a crash has added ${added} requests`);
    for (const name of ["refused", "refusedWhileBanned"] as const)
      if (row[name] > hour[name] || row[name] < (told?.[name] ?? 0))
        throw new Difference(`${name} after a crash`);
    const { admitted, refused, refusedWhileBanned, limits } = row;
    return { ...hour, admitted, refused, refusedWhileBanned, limits, refusals: refusalsOf(row) };
  });
  const { count: failures = 0, lastAtMs: failedAtMs = 0 } = outbox?.failures ?? {};
  return { ...usage, hours, failures, failedAtMs, isKnown: false };
}

/** Whether a report or its news came in between. */
export function hasTold(before: Usage | null, after: Usage | null): boolean {
  return (["heard", "failures", "bans", "shares"] as const).some((name) => before?.[name] !== after?.[name]);
}

/** Whether the row has all admitted requests of the newest hour. */
export function coversHour(usage: Usage | null, outbox: Outbox): boolean {
  const [hour, stored] = [usage?.hours.at(-1), outbox.hours.at(-1)];
  if (hour === undefined) return true;
  return stored?.startMs === hour.startMs && stored.admitted >= hour.admitted;
}

/** The minutes of the refusals that the newest hour has. */
export function refusedAtMs(usage: Usage | null): readonly number[] {
  return usage?.hours.at(-1)?.refusals.map(({ atMs }) => atMs) ?? [];
}

export function isAllHeard({ hours, heard, bans, shares }: Usage): boolean {
  const known = new Set(figuresOf(heard).map(String));
  return figuresOf(hours).every((hour) => known.has(String(hour))) && ![...bans, ...shares].some(isWaiting);
}

export function hoursEndMs({ hours }: Usage): number {
  return Math.max(0, ...hours.map(({ startMs }) => startMs + HOUR_MS));
}
