/** Sums the usage that the limiters have reported by hour, day, key or customer (ADR-22). */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { withCustomerId } from "../../db/customers-sql.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import type { UsagePeriod, UsageSort } from "../../db/values.ts";
import { hasLimiter } from "../../key/outdated-keys-sql.ts";
import type { LimiterAddress } from "../../key/reach-limiter.ts";
import { readMinutes } from "../../key/usage-day.ts";
import { invalidMembers } from "../../platform/errors.ts";
import { settingsOf, USAGE_RETENTION_DAYS } from "../../platform/settings.ts";
import {
  DAY_SECONDS,
  dayName,
  HOUR_SECONDS,
  midnightAfter,
  nowSeconds,
  rfc3339,
  toUnixSeconds,
} from "../../text/time.ts";
import { fromCursor, pageOf, toCursor } from "../http/cursor.ts";
import { MAX_PAGE_SIZE } from "../http/schemas.ts";
import { askLimiters, lastReports, type Reported, reportOf } from "./ask-limiters.ts";
import {
  ADVICE_DAYS,
  type DayUsage,
  daysNearNow,
  type HourUsageView,
  type KeyUsageView,
  type nearAnswer,
  orderOf,
  type TimeUsage,
  type usageQuery,
} from "./schema.ts";
import * as d1 from "./sql.ts";

type RangeQuery = { readonly from?: number | undefined; readonly to?: number | undefined };
type UsageQuery = v.InferOutput<typeof usageQuery>;

/** No sum of an operator reads more rows. */
const MAX_ROWS_READ = 1_000_000;

/** `/admin/customers` lists customers with their use. */
type Group = "key" | "customer";

const SECONDS: Readonly<Record<UsagePeriod, number>> = { hour: HOUR_SECONDS, day: DAY_SECONDS };

/**
 * Asks with the filter of the query. Limiters of few keys report first.
 */
export async function withReports<T>(
  env: Bindings,
  query: Pick<UsageQuery, "from" | "to" | "key" | "customer" | "plan">,
  unit: UsagePeriod,
  find: (
    db: Database,
    filter: d1.UsageFilter,
    about: Awaited<ReturnType<typeof describeRange>>,
  ) => Promise<T>,
): Promise<T> {
  const db = openDatabase(env.DB);
  const { key, plan, customer } = await withCustomerId(db, query);
  const filter = { ...rangeOf(env, query, unit), key, customer, plan };
  const reported = filter.toSeconds > nowSeconds() ? await askLimiters(env, filter) : undefined;
  const about = await describeRange(env, filter, reported);
  return find(db, filter, about);
}

export async function findUsage(env: Bindings, query: UsageQuery) {
  const { by, limit } = query;
  if (by === "key") {
    const { rows, ...answer } = await findUsageOf(env, d1.ALL_KEYS, by, { ...query, ...orderOf(query) });
    return { ...answer, by, rows: rows.map(toKeyUsageView) };
  }
  refuseOrder(query);
  return withReports(env, query, by, async (db, filter, about) => {
    const rows = await listUsageOverTime(db, filter, by);
    const order = `usage by ${by}`;
    const after = fromCursor(order, query.after);
    const later = rows.filter(({ start }) => after === undefined || start > String(after.value));
    const { shown, last } = pageOf(later, limit);
    const next = toCursor(order, last && { value: last.start, id: "" });
    return { ...about, by, rows: shown, total: sumOf(rows), next };
  });
}

type GroupQuery = Pick<UsageQuery, "from" | "to" | "key" | "customer" | "plan" | "limit" | "after"> & {
  readonly sort: UsageSort;
  readonly direction: "asc" | "desc";
};

/** Sums the days of keys by group. */
export function findUsageOf(env: Bindings, groups: d1.UsageGroups, by: Group, query: GroupQuery) {
  return withReports(env, query, "day", async (db, filter, about) => ({
    ...about,
    ...(await listUsageOf(db, groups, by, filter, query)),
  }));
}

export async function listUsageOf(
  db: Database,
  groups: d1.UsageGroups,
  by: Group,
  filter: d1.UsageFilter,
  { sort, direction, limit, after }: Pick<GroupQuery, "sort" | "direction" | "limit" | "after">,
) {
  const order = `usage by ${by} ${sort} ${direction}`;
  const page = { sort, direction, after: fromCursor(order, after), limit };
  await refuseTooMuch(db, filter, "sums");
  const { rows, total } = await d1.listGroups(db, groups, filter, page, daysBegun(filter));
  const { shown, last } = pageOf(rows, limit);
  return { rows: shown, total, next: toCursor(order, last) };
}

/** Hours and days have one order. */
function refuseOrder({ by, sort, direction }: UsageQuery): void {
  for (const [name, value] of Object.entries({ sort, direction })) {
    if (value !== undefined)
      throw invalidMembers({
        member: name,
        reason: `must not be given with by=${by}, whose rows are in the order of time`,
      });
  }
}

/** Lists every hour or day of the range, the oldest first. */
export async function listUsageOverTime(
  db: Database,
  filter: d1.UsageFilter,
  by: UsagePeriod,
): Promise<readonly TimeUsage[]> {
  if (by === "hour") await refuseTooMuch(db, filter, "days");
  const buckets = await d1.listBuckets(db, filter, by);
  const found = new Map(buckets.map((each) => [each.start, each]));
  return startsOf(filter, by).map((start) => toTimeUsage(start, by, found.get(start)));
}

/** D1 answers one query at a time, and clients wait meanwhile. A day by hour is 24 figures. */
async function refuseTooMuch(db: Database, filter: d1.UsageFilter, of: "days" | "sums"): Promise<void> {
  const max = of === "days" ? Math.floor(MAX_ROWS_READ / 24) : MAX_ROWS_READ;
  if (filter.key !== undefined || !(await d1.isMoreThan(db, max, filter, of))) return;
  throw invalidMembers({
    member: "from",
    reason:
      of === "days"
        ? "this is the usage of more than a million hours of keys. Ask by day, for less time, or for one key or customer"
        : "these are more than a million sums of keys. Ask for fewer days, or for one key or customer",
  });
}

export function toKeyUsageView(row: d1.GroupRow): KeyUsageView {
  const { id: keyId, keyName, customer, status, plan, percent, daysNear, peakPercent } = row;
  const limits = { requestsPerMinute: row.perMinute, requestsPerDay: row.perDay };
  const closeness = { percent, daysNear, peakPercent };
  return { keyId, keyName, customer, status, plan, limits, ...closeness, ...figuresOf(row) };
}

export function toUsageOfKeys({ keyCount, daysNear, peakPercent, ...row }: d1.GroupRow) {
  return { keyCount, daysNear, peakPercent, ...figuresOf(row) };
}

/** The keys that are near their limit of the day, and those that were on most of the last days. */
export async function findNear(env: Bindings, limit: number): Promise<v.InferOutput<typeof nearAnswer>> {
  const db = openDatabase(env.DB);
  const [day, range] = [lastDays(1), lastDays(ADVICE_DAYS)];
  const [nearest, counts] = await Promise.all([
    d1.listNearest(db, day, limit + 1),
    d1.countDaysNear(db, range),
  ]);
  const mostDays = [...counts]
    .filter(([, count]) => 2 * count > ADVICE_DAYS)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MAX_PAGE_SIZE)
    .map(([id]) => id);
  const list = async (filter: d1.UsageFilter & { readonly keys: readonly string[] }) => {
    const page = { sort: "percent", direction: "desc", limit: filter.keys.length } as const;
    const { rows } = await d1.listGroups(db, d1.ALL_KEYS, filter, page, daysBegun(filter));
    return rows.map(toKeyUsageView);
  };
  const [keys, often, daysOf] = await Promise.all([
    list({ ...day, keys: nearest.slice(0, limit) }),
    list({ ...range, keys: mostDays }),
    listDaysOfKeys(db, mostDays, range),
  ]);
  return {
    keys,
    hasMoreKeys: nearest.length > limit,
    often: often
      .map((key) => ({ ...key, daysNear: daysNearNow(daysOf(key.keyId), key.limits) }))
      .filter(({ daysNear }) => 2 * daysNear > ADVICE_DAYS)
      .toSorted((a, b) => b.daysNear - a.daysNear)
      .slice(0, limit),
  };
}

type AskedKey = LimiterAddress & Parameters<typeof hasLimiter>[1];

/** The key's limiter reports first, so that the figures are of this moment. */
export async function findUsageOfKey(
  env: Bindings,
  key: AskedKey,
  { by, ...query }: RangeQuery & { readonly by: UsagePeriod },
) {
  const db = openDatabase(env.DB);
  const range = rangeOf(env, query, by);
  const unreachable = (await reportNow(env, key)) ? [] : [key.id];
  const about = { keyId: key.id, ...(await describeRange(env, range, { atMs: Date.now(), unreachable })) };
  if (by === "day") {
    const rows = (await listDaysOfKeys(db, [key.id], range))(key.id);
    return { ...about, by, rows, total: sumOf(rows) };
  }
  const rows = await listHours(db, { ...range, key: key.id });
  return { ...about, by, rows, total: sumOf(rows) };
}

/** Lists every day of each of these keys in the range, the oldest first. */
export async function listDaysOfKeys(
  db: Database,
  ids: readonly string[],
  range: d1.UsageRange,
): Promise<(id: string) => DayUsage[]> {
  const ofKeys = Map.groupBy(await d1.findDaysOfKeys(db, ids, range), ({ keyId }) => keyId);
  return (id) => {
    const found = new Map(ofKeys.get(id)?.map((row) => [row.day, row]));
    return startsOf(range, "day").map((start) => {
      const row = found.get(start);
      return { ...toTimeUsage(start, "day", row), limitPerDay: row?.limitPerDay ?? null };
    });
  };
}

/** Lists every hour of a key in the range, the oldest first. */
export async function listHours(db: Database, filter: d1.KeyFilter): Promise<HourUsageView[]> {
  const hours = new Map((await d1.listHoursOfKeys(db, filter)).map((each) => [each.start, each]));
  return startsOf(filter, "hour").map((start) => toHourUsage(start, hours.get(start)));
}

export function toHourUsage(start: number, row: d1.HourRow | undefined): HourUsageView {
  const refusedMinutes = readMinutes(row?.refusedMinutes ?? null).map(({ minute, by }) => ({
    at: rfc3339(start + minute * 60),
    by,
  }));
  return { ...toTimeUsage(start, "hour", row), refusedMinutes };
}

/** Makes the limiter of the key report now. Returns false if the limiter cannot be reached. */
export async function reportNow(env: Bindings, key: AskedKey): Promise<boolean> {
  if (!(await hasLimiter(openDatabase(env.DB), key))) return true;
  return reportOf(env, key);
}

async function describeRange(env: Bindings, range: d1.UsageRange, asked?: Reported) {
  const reported =
    asked?.unreachable.length === 0
      ? asked
      : { ...(await lastReports(env)), ...(asked && { unreachable: asked.unreachable }) };
  const days = settingsOf(env).retentionDays.usage;
  const kept = days === null ? 0 : midnightAfter(nowSeconds() - days * DAY_SECONDS - 1, 1);
  const first = await d1.findFirstDay(openDatabase(env.DB));
  return {
    from: rfc3339(range.fromSeconds),
    to: rfc3339(range.toSeconds),
    completeFrom: rfc3339(Math.max(range.fromSeconds, kept, first ?? 0)),
    asOf: countedUntil(range, reported),
    unreachable: [...reported.unreachable],
  };
}

/** Rounds the range out to whole hours or days, but not beyond this hour. The default is today. */
function rangeOf(env: Bindings, { from, to }: RangeQuery, by: UsagePeriod): d1.UsageRange {
  const now = nowSeconds();
  const fromSeconds = startOf(from ?? now, from === undefined ? DAY_SECONDS : SECONDS[by]);
  const end = endOfHour(now);
  const toSeconds = to === undefined ? end : Math.min(end, startOf(to - 1, SECONDS[by]) + SECONDS[by]);
  if (fromSeconds >= toSeconds) throw invalidMembers({ member: "from", reason: "must be before to" });
  const days = settingsOf(env).retentionDays.usage ?? USAGE_RETENTION_DAYS;
  if (toSeconds - fromSeconds > (days + 1) * DAY_SECONDS) {
    throw invalidMembers({
      member: "from",
      reason: `must be at most ${days} days before to, as usage is kept no longer`,
    });
  }
  return { fromSeconds, toSeconds };
}

/** Returns the range of the last days, today included. */
export function lastDays(count: number): d1.UsageRange {
  const now = nowSeconds();
  return {
    fromSeconds: startOf(now, DAY_SECONDS) - (count - 1) * DAY_SECONDS,
    toSeconds: endOfHour(now),
  };
}

/** Returns the range of the last hours, the present hour included. */
export function lastHours(count: number): d1.UsageRange {
  const toSeconds = endOfHour(nowSeconds());
  return { fromSeconds: toSeconds - count * HOUR_SECONDS, toSeconds };
}

/** Returns the time until which all requests of the range are counted. Its start says that none are for certain. */
export function countedUntil({ fromSeconds, toSeconds }: d1.UsageRange, { atMs }: Reported): string {
  return rfc3339(Math.max(fromSeconds, Math.min(toSeconds, toUnixSeconds(atMs))));
}

/** Counts the days of the range that have begun. A key has its daily limit from midnight on. */
function daysBegun({ fromSeconds, toSeconds }: d1.UsageRange): number {
  const lastSecond = Math.min(toSeconds - 1, nowSeconds());
  return Math.max(
    1,
    (startOf(lastSecond, DAY_SECONDS) - startOf(fromSeconds, DAY_SECONDS)) / DAY_SECONDS + 1,
  );
}

function startsOf({ fromSeconds, toSeconds }: d1.UsageRange, by: UsagePeriod): number[] {
  const first = startOf(fromSeconds, SECONDS[by]);
  const count = Math.ceil((toSeconds - first) / SECONDS[by]);
  return Array.from({ length: count }, (_, i) => first + i * SECONDS[by]);
}

function startOf(atSeconds: number, seconds: number): number {
  return Math.floor(atSeconds / seconds) * seconds;
}

function endOfHour(atSeconds: number): number {
  return startOf(atSeconds, HOUR_SECONDS) + HOUR_SECONDS;
}

function toTimeUsage(start: number, by: UsagePeriod, row: d1.Figures | undefined): TimeUsage {
  return { start: by === "day" ? dayName(start) : rfc3339(start), ...figuresOf(row ?? NO_USAGE) };
}

const NO_USAGE: d1.Figures = { admitted: 0, refused: 0, refusedWhileBanned: 0 };

function figuresOf({ admitted, refused, refusedWhileBanned }: d1.Figures): d1.Figures {
  return { admitted, refused, refusedWhileBanned };
}

export function sumOf(parts: readonly d1.Figures[]): d1.Figures {
  const add = (name: keyof d1.Figures) => parts.reduce((sum, part) => sum + part[name], 0);
  return {
    admitted: add("admitted"),
    refused: add("refused"),
    refusedWhileBanned: add("refusedWhileBanned"),
  };
}
