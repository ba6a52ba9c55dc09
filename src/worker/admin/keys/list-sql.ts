/** D1: pages of keys for operators, filtered and sorted. */
import { type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { withCustomerId } from "../../db/customers-sql.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { isKeyId, isSecretId } from "../../key/key.ts";
import { statusAt } from "../../key/key-state-sql.ts";
import { foldForSearch } from "../../text/text.ts";
import { DAY_SECONDS, nowSeconds } from "../../text/time.ts";
import { fromCursor, type Position, pageOf, toCursor } from "../http/cursor.ts";
import { lastReports } from "../usage/ask-limiters.ts";
import { countedUntil, lastDays, listDaysOfKeys } from "../usage/service.ts";
import { admittedOn } from "../usage/sql.ts";
import type { KeyView, keyPage, keyQuery } from "./schema.ts";
import { findKeys } from "./sql.ts";

type KeyFilter = Omit<v.InferOutput<typeof keyQuery>, "format" | "days">;

const MAX_NAMED_KEYS = 10;

/** Lists keys, with the usage of the last days of each. */
export async function findKeyPage(
  env: Bindings,
  { days, ...filter }: v.InferOutput<typeof keyQuery>,
): Promise<v.InferOutput<typeof keyPage>> {
  const db = openDatabase(env.DB);
  // What is missing in the keys' rows is asked for before them: it can be reported meanwhile.
  const reported = await lastReports(env);
  const { keys, next } = await listKeys(db, await withCustomerId(db, filter), nowSeconds());
  const unreachable = [...reported.unreachable];
  const about = { next, asOf: countedUntil(lastDays(1), reported), unreachable };
  if (days === 0) return { keys: [...keys], ...about };
  const ids = keys.map(({ id }) => id);
  const daysOf = await listDaysOfKeys(db, ids, lastDays(days));
  const withDays = keys.map((key) => {
    const ofKey = daysOf(key.id);
    // A limiter may have reported since the keys were read.
    return { ...key, admittedToday: ofKey.at(-1)?.admitted ?? 0, days: ofKey };
  });
  return { keys: withDays, ...about };
}

/** Lists keys. `customer` is an id. In either direction, keys without a customer or an expiry are last. */
export async function listKeys(
  db: Database,
  filter: KeyFilter,
  nowSeconds: number,
): Promise<{ readonly keys: readonly KeyView[]; readonly next: string | null }> {
  const { sort, direction, ref } = filter;
  const order = `${sort} ${direction}`;
  const after = fromCursor(order, filter.after);
  const limit = ref === undefined ? filter.limit : Math.min(filter.limit, MAX_NAMED_KEYS);
  const value = sortValue(sort, nowSeconds);
  const by = sql.raw(direction);
  const isMatch = sql.join(
    [isAfter(value, direction, after), ...conditionsOf(filter, nowSeconds)],
    sql` and `,
  );
  const rows = await db.all<Position>(sql`
    select k.id, ${value} as value from api_keys k where ${isMatch}
    order by ${sort === "created" || sort === "name" ? sql`` : sql`value is null,`} value ${by}, k.id ${by} limit ${limit + 1}`);
  const { shown, last } = pageOf(rows, limit);
  const ids = shown.map(({ id }) => id);
  return { keys: await findKeys(db, ids, nowSeconds), next: toCursor(order, last) };
}

function sortValue(sort: KeyFilter["sort"], nowSeconds: number): SQL {
  return {
    // Rows are in the order in which keys were stored. Two keys of one second have the same time.
    created: sql`k.rowid`,
    name: sql`k.name`,
    customer: sql`(select name from customers where id = k.customer_id)`,
    expiry: sql`k.expires_at`,
    used: admittedOn(nowSeconds - (nowSeconds % DAY_SECONDS)),
  }[sort];
}

function isAfter(value: SQL, direction: KeyFilter["direction"], after: Position | undefined): SQL {
  if (after === undefined) return sql`true`;
  const follows = sql.raw(direction === "asc" ? ">" : "<");
  if (after.value === null) return sql`${value} is null and k.id ${follows} ${after.id}`;
  return sql`(${value} is null or (${value}, k.id) ${follows} (${after.value}, ${after.id}))`;
}

function conditionsOf(filter: KeyFilter, nowSeconds: number): SQL[] {
  const { plan, status, search, ref, customer, mayCancel, expiringBefore, unusedSince } = filter;
  return [
    ...(plan === undefined ? [] : [sql`k.plan = ${plan}`]),
    ...(status === undefined ? [] : [hasStatus(status, nowSeconds)]),
    ...(search === undefined ? [] : [isFoundBy(search)]),
    ...(ref === undefined ? [] : [isNamedBy(ref)]),
    ...(customer === undefined ? [] : [sql`k.customer_id = ${customer}`]),
    ...(mayCancel === undefined ? [] : [sql`k.may_cancel = ${mayCancel === "true"}`]),
    ...(expiringBefore === undefined ? [] : [endsBefore(expiringBefore)]),
    ...(unusedSince === undefined ? [] : [isUnusedSince(unusedSince)]),
  ];
}

function hasStatus(status: NonNullable<KeyFilter["status"]>, nowSeconds: number): SQL {
  const found = statusAt(nowSeconds);
  if (status === "not-revoked") return sql`k.status <> 'revoked'`;
  return status === "usable" ? sql`${found} in ('active', 'banned')` : sql`${found} = ${status}`;
}

/**
 * Finds part of a name or note, also of the customer's, in any case and without accents; a whole id; or a
 * secret. Plain SQL stores no folded text, so its texts are found with their accents only.
 */
function isFoundBy(text: string): SQL {
  const has = (search: SQL) =>
    sql`(instr(${search}, ${foldForSearch(text)}) > 0 or instr(${search}, lower(${text})) > 0)`;
  return sql`(
    ${has(sql`k.search`)} or k.id = ${text} or k.customer_id in (select id from customers where ${has(sql`search`)})
    or ${hasSecret(text)})`;
}

/** An id names one key, whatever other keys are called. The empty text names no key. */
function isNamedBy(ref: string): SQL {
  if (isKeyId(ref)) return sql`k.id = ${ref}`;
  const firstLine = `${foldForSearch(ref)}\n`;
  return sql`(
    (instr(k.id, ${ref}) = 1 and ${ref} <> '') or k.name = ${ref} or instr(k.search || char(10), ${firstLine}) = 1
    or ${hasSecret(ref)})`;
}

/**
 * The id of a secret, or its last four characters. They are compared in any case, because an upper-case letter is
 * easily lost when it is read out.
 */
function hasSecret(text: string): SQL {
  const isIt = isSecretId(text)
    ? sql`hash >= ${text} and hash < ${`${text}g`}`
    : text.length === 4
      ? sql`substr(hint, -4) = ${text} collate nocase`
      : sql`false`; // no other text is looked for in each secret
  return sql`k.id in (select key_id from key_secrets where ${isIt})`;
}

/** Indexes have the ends, so no other key is read. */
function endsBefore(seconds: number): SQL {
  return sql`k.id in (
    select id from api_keys where expires_at < ${seconds}
    union all select key_id from key_secrets ending where expires_at < ${seconds} and not exists (
      select 1 from key_secrets where key_id = ending.key_id and (expires_at is null or expires_at >= ${seconds})))`;
}

function isUnusedSince(day: string): SQL {
  const since = sql`unixepoch(${day})`;
  return sql`(k.created_at < ${since} and not exists (select 1 from usage where key_id = k.id and day >= ${since}))`;
}
