/** D1: the list of orders as JSON text. SQLite writes all digits. Ids are decimal text (ADR-5). */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { MAX_LIST_BYTES } from "../../platform/memory.ts";

/** A state of the list. After a restore, `token` tells two revisions with the same number apart. */
export type Revision = { readonly number: number; readonly token: string };

/** The orders from the id `low` on, up to the next chunk: `,{…},{…}`. An unread chunk has null. */
export type Chunk = { readonly low: string; readonly bytes: Uint8Array | null };

/** The chunks cover all ids, so each new order falls into a chunk. A chunk that was read shows `revision`. */
export type List = { readonly revision: Revision; readonly chunks: readonly Chunk[] };

/** The revisions of the chunks that were read, the earliest first. */
export type Seen = readonly [Revision, ...Revision[]];

export const UNREAD: readonly Chunk[] = [{ low: String(-(2n ** 63n)), bytes: null }];
const MAX_ID = String(2n ** 63n - 1n);

/** An order has at most 147 bytes. A test sets smaller sizes. */
export const SIZES = {
  ordersPerPage: 10_000, // 1.5 MB: D1 has 2 MB for one string
  ordersPerChunk: 1_000, // what one change costs to read again
  // A statement reads at most this many chunks again, with this many changes in each: 14 MB.
  chunksReadAgain: 64,
  changesPerChunk: 500,
  maxChanges: 10_000, // after more, reading the whole table costs less
  maxListBytes: MAX_LIST_BYTES,
  ordersPerStreamedPage: 2_000, // 2 million orders take 1,000 queries, D1's maximum for a request
};

/** Returns the current revision. Reads one row. */
export async function readRevision(db: Database): Promise<Revision> {
  const last = sql`select revision as number, token from order_changes order by revision desc limit 1`;
  return await db.get<Revision>(last);
}

/** Returns up to `limit` orders from `low` to below `end`. If there are more, the last chunk is not read. */
export async function readPage(db: Database, limit: number, low: string, end?: string): Promise<List> {
  const below = end === undefined ? sql`true` : sql`id < cast(${end} as integer)`;
  // An order beyond the limit shows that there are more.
  const orders = ordersIn(sql`id >= cast(${low} as integer) and ${below} order by id limit ${limit + 1}`);
  const { json, ...revision } = await db.get<Revision & { json: string }>(
    sql`select revision as number, token, ${orders} as json from order_changes order by revision desc limit 1`,
  );
  return { revision, chunks: toChunks(low, json, limit) };
}

type ChangesRow = Revision & { isKnown: number; low: string; json: string | null };

/**
 * Reads each chunk again that has changed since the first revision in `seen`. A chunk with too many changes
 * comes back unread. The whole list comes back unread if the feed lacks changes since that revision, or if
 * the database was restored to an earlier time. A change belongs to the last chunk whose `low` is not above
 * the changed id.
 */
export async function readChanges(db: Database, seen: Seen, chunks: readonly Chunk[]): Promise<List> {
  const base = seen[0].number;
  const lows = JSON.stringify(chunks.map(({ low }) => low));
  const orders = ordersIn(sql`id between low and high order by id`);
  const [current, ...changed] = await db.all<ChangesRow>(sql`
    with current as materialized (select revision, token from order_changes order by revision desc limit 1),
    known as materialized (
      select 1 from current where revision - ${base} <= ${SIZES.maxChanges} and ${seen.length} = (
        select count(*) from json_each(${JSON.stringify(seen)}) as seen join order_changes on order_changes.revision = value ->> 'number'
        where order_changes.token = value ->> 'token')
    ),
    located as (
      select is_change, max(number) over (order by id, is_change) as number from (
        select cast(value as integer) as id, key as number, 0 as is_change from json_each(${lows})
        union all
        select order_id, null, 1 from order_changes where revision > ${base} and exists (select 1 from known)
      )
    ),
    changed as materialized (
      select number, cast(${lows} ->> number as integer) as low,
        coalesce(cast(${lows} ->> (number + 1) as integer) - 1, cast(${MAX_ID} as integer)) as high,
        count(*) <= ${SIZES.changesPerChunk} and row_number() over (order by number) <= ${SIZES.chunksReadAgain} as is_read
      from located where is_change group by number
    )
    select revision as number, token, exists (select 1 from known) as isKnown, null as low, null as json from current
    union all
    select number, null, null, cast(low as text), case when is_read then ${orders} end from changed`);
  if (!current) throw new Error("order_changes has no row");
  const revision = { number: current.number, token: current.token };
  if (!current.isKnown) return { revision, chunks: UNREAD };
  const read = new Map(changed.map(({ number, low, json }) => [number, toChunks(low, json)]));
  return { revision, chunks: joined(chunks.flatMap((chunk, i) => read.get(i) ?? chunk)) };
}

/** Joins an empty chunk to the chunk before, and an unread chunk to an unread chunk before. */
function joined(chunks: readonly Chunk[]): readonly Chunk[] {
  const isPart = ({ bytes }: Chunk, before: Chunk | undefined) =>
    before && (bytes === null ? before.bytes === null : bytes.byteLength === 0);
  return chunks.filter((chunk, i) => !isPart(chunk, chunks[i - 1]));
}

function ordersIn(range: SQL): SQL {
  return sql`(select coalesce(group_concat(json, ','), '') from (select json from order_json where ${range}))`;
}

const encoder = new TextEncoder();

/** Makes chunks of equal size from the id `low`. An order beyond the limit begins an unread chunk. */
function toChunks(low: string, json: string | null, limit = Number.POSITIVE_INFINITY): readonly Chunk[] {
  if (!json) return [{ low, bytes: json === null ? null : new Uint8Array() }];
  // An order contains no object and no text of a client, so `},{` stands only between orders.
  const orders = json.slice(1, -1).split("},{");
  const rest = orders.length > limit ? orders.pop() : undefined;
  const size = Math.ceil(orders.length / Math.ceil(orders.length / SIZES.ordersPerChunk));
  const chunks: Chunk[] = [];
  for (let i = 0; i < orders.length; i += size) {
    const bytes = encoder.encode(`,{${orders.slice(i, i + size).join("},{")}}`);
    chunks.push({ low: i === 0 ? low : idOf(orders[i]), bytes });
  }
  return rest === undefined ? chunks : [...chunks, { low: idOf(rest), bytes: null }];
}

const idOf = (order = "") => order.slice('"id":'.length).split(",", 1).join();
