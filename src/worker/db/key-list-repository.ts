/** D1: pages of keys for the admin API, filtered and sorted. Each page reads a bounded number of keys, from an index. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { findKeys, type KeyView, statusAt } from "./key-repository.ts";
import type { KEY_SORTS, PLAN_IDS } from "./values.ts";

export type KeyFilter = {
  readonly plan?: (typeof PLAN_IDS)[number] | undefined;
  readonly status?: KeyView["status"] | undefined;
  /** Part of the name, of the owner's name or of the owner's e-mail address, any case of A to Z (SQLite folds no other letters). */
  readonly search?: string | undefined;
  /** Unix seconds. Keys that have expired already match too. */
  readonly expiringBefore?: number | undefined;
  /** A UTC day: keys last used before it, or never. */
  readonly unusedSince?: string | undefined;
  readonly sort: (typeof KEY_SORTS)[number];
  readonly direction: "asc" | "desc";
  readonly after?: KeyPosition | undefined;
  readonly limit: number;
};

/** A key's place in a sorted list: the value that it is sorted by, then its id. */
export type KeyPosition = { readonly value: string | number | null; readonly id: string };

export type KeyPage = {
  readonly keys: readonly KeyView[];
  /** Where to go on; null on the last page. */
  readonly next: KeyPosition | null;
};

/** A page with a filter reads this many rows for each key that it may show, to find keys that match. */
const MAX_ROWS_READ_PER_KEY_SHOWN = 3;
/** A small page reads this many, so that a search for few keys does not need many pages. */
const MIN_ROWS_READ = 300;

const COLUMNS = { name: sql`k.name`, owner: sql`k.owner_name`, expiry: sql`k.expires_at` } as const;

/** A page with a filter can have fewer keys than `limit`, or none, although more follow. */
export async function listKeys(db: Database, filter: KeyFilter, nowSeconds: number): Promise<KeyPage> {
  const { limit } = filter;
  const conditions = conditionsOf(filter, nowSeconds);
  const maxRead = conditions.length === 0 ? limit : maxKeysRead(filter);
  const isMatch = sql.join([sql`true`, ...conditions], sql` and `);
  const read = await readKeys(db, partsOf(filter, nowSeconds), isMatch, maxRead);
  const matching = read.filter((key) => key.isMatch === 1).slice(0, limit);
  const last = matching[limit - 1] ?? (read.length === maxRead ? read.at(-1) : undefined);
  const ids = matching.map(({ id }) => id);
  return {
    keys: await findKeys(db, ids, nowSeconds),
    next: last ? { value: last.value, id: last.id } : null,
  };
}

function maxKeysRead({ limit, unusedSince }: KeyFilter): number {
  const rowsPerKey = unusedSince === undefined ? 1 : 2;
  return Math.floor(Math.max(MIN_ROWS_READ, MAX_ROWS_READ_PER_KEY_SHOWN * limit) / rowsPerKey);
}

type KeyRead = KeyPosition & { readonly isMatch: number };

async function readKeys(
  db: Database,
  parts: readonly Part[],
  isMatch: SQL,
  maxRead: number,
): Promise<readonly KeyRead[]> {
  const read: KeyRead[] = [];
  for (const { value, where, order } of parts) {
    if (read.length === maxRead) break;
    const rows = await db.all<KeyRead>(sql`
      select k.id, ${value} as value, ${isMatch} as isMatch from api_keys k
      where ${where} order by ${order} limit ${maxRead - read.length}`);
    read.push(...rows);
  }
  return read;
}

/** A part of the list that one index has in order. */
type Part = { readonly value: SQL; readonly where: SQL; readonly order: SQL };

/** In either direction, keys without an owner or an expiry are last. */
function partsOf(filter: KeyFilter, nowSeconds: number): Part[] {
  const { sort, direction, plan, status, expiringBefore } = filter;
  // Active keys begin behind those that have expired, of which there may be many.
  const isFirstActive = sort === "expiry" && direction === "asc" && status === "active";
  const after = filter.after ?? (isFirstActive ? { value: nowSeconds, id: "\u{10ffff}" } : undefined);
  const by = sql.raw(direction);
  const follows = sql.raw(direction === "asc" ? ">" : "<");
  const afterId = after ? sql`k.id ${follows} ${after.id}` : sql`true`;
  if (sort === "created") {
    // An id begins with the time of its creation.
    const ofPlan = plan === undefined ? sql`true` : sql`k.plan = ${plan}`;
    return [{ value: sql`null`, where: sql`${ofPlan} and ${afterId}`, order: sql`k.id ${by}` }];
  }
  const value = COLUMNS[sort];
  const isWithout = after?.value === null;
  const afterBoth =
    after && !isWithout ? sql`(${value}, k.id) ${follows} (${after.value}, ${after.id})` : sql`true`;
  const ends = sort === "expiry" && expiringBefore !== undefined;
  const inRange = ends ? sql`${value} < ${expiringBefore}` : sql`${value} is not null`;
  const withValue = {
    value,
    where: sql`${inRange} and ${afterBoth}`,
    order: sql`${value} ${by}, k.id ${by}`,
  };
  const without = {
    value,
    where: sql`${value} is null and ${isWithout ? afterId : sql`true`}`,
    order: sql`k.id ${by}`,
  };
  return [...(isWithout ? [] : [withValue]), ...(ends || sort === "name" ? [] : [without])];
}

/** The conditions that no index has in the order of the list. */
function conditionsOf(filter: KeyFilter, nowSeconds: number): SQL[] {
  const { plan, status, search, expiringBefore, unusedSince, sort } = filter;
  return [
    ...(plan === undefined || sort === "created" ? [] : [sql`k.plan = ${plan}`]),
    ...(status === undefined ? [] : [sql`${statusAt(nowSeconds)} = ${status}`]),
    ...(search === undefined ? [] : [isFoundBy(search)]),
    ...(expiringBefore === undefined || sort === "expiry"
      ? []
      : [sql`coalesce(k.expires_at < ${expiringBefore}, false)`]),
    ...(unusedSince === undefined ? [] : [isUnusedSince(unusedSince)]),
  ];
}

/** The text has no line breaks, so it does not match across two members. */
function isFoundBy(text: string): SQL {
  return sql`instr(
    lower(concat_ws(char(10), k.name, k.owner_name, k.owner_email)), lower(${text})) > 0`;
}

/** The usage of a key that was first used a moment ago is not in D1 yet, hence its first use. */
function isUnusedSince(day: string): SQL {
  return sql`(k.first_used_at is null or (
    k.first_used_at < unixepoch(${day})
    and not exists (select 1 from usage where key_id = k.id and hour >= unixepoch(${day}))))`;
}
