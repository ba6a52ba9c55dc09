/** D1: the links of owners' pages. */
import { sql } from "drizzle-orm";
import type { OwnerLink } from "../../context.ts";
import { CUSTOMER_JSON } from "../../db/customers-sql.ts";
import { type Database, rfc3339Sql } from "../../db/database.ts";
import { ownerLinks } from "../../db/schema.ts";
import { rfc3339, rfc3339OrNull } from "../../text/time.ts";
import type { Kind, Target } from "../change.ts";
import type { LinkView } from "./schema.ts";

const MAX_LINKS_SHOWN = 500;

/** A link whose customer is JSON, and whose times are Unix seconds. */
type LinkRow = Omit<LinkView, "customer" | "createdAt" | "endsAt" | "openedAt"> & {
  readonly customer: string;
  readonly createdAt: number;
  readonly endsAt: number;
  readonly openedAt: number | null;
};

const SELECT = sql`
  select l.id, ${CUSTOMER_JSON} as customer, l.created_at as createdAt, l.created_by as createdBy, l.ends_at as endsAt,
    l.opened_at as openedAt
  from owner_links l join customers c on c.id = l.customer_id`;

/** D1's clock ends a link, too: that of an isolate may be behind. */
function hasNotEnded(nowSeconds: number) {
  return sql`ends_at > max(unixepoch(), ${nowSeconds})`;
}

/** The first 64 bits of the hash name a link. */
export function linkIdOf(hash: string): string {
  return `link_${hash.slice(0, 16)}`;
}

/** Finds the link with this hash if it has not ended. A link that was revoked has no row. */
export async function findLiveLink(
  db: Database,
  hash: string,
  nowSeconds: number,
): Promise<OwnerLink | undefined> {
  return db.get<OwnerLink | undefined>(sql`
    select l.id, c.id as customerId, c.name as customerName, l.ends_at as endsAt, l.opened_at as openedAt
    from owner_links l join customers c on c.id = l.customer_id
    where l.id = ${linkIdOf(hash)} and l.hash = ${hash} and ${hasNotEnded(nowSeconds)}`);
}

/** A page that is read all day costs a write a minute. */
export async function noteOpening(
  db: Database,
  { id, openedAt }: Pick<OwnerLink, "id" | "openedAt">,
  nowSeconds: number,
): Promise<void> {
  const minute = nowSeconds - (nowSeconds % 60);
  if (openedAt !== null && openedAt >= minute) return;
  await db.run(sql`
    update owner_links set opened_at = ${minute} where id = ${id} and coalesce(opened_at, 0) < ${minute}`);
}

const LINKS = {
  table: ownerLinks,
  noun: "link",
  title: sql`owner_links.id`,
  members: { customer: ownerLinks.customerId, endsAt: rfc3339Sql(sql`ends_at`) },
} satisfies Kind;

export function linkTarget(id: string): Target<LinkRow, LinkView> {
  return { kind: LINKS, id, select: sql`${SELECT} where l.id = ${id}`, view: toLinkView };
}

/** Lists the links that have not ended, the newest first. */
export async function listLinks(
  db: Database,
  customer: string | undefined,
  nowSeconds: number,
): Promise<LinkView[]> {
  const ofCustomer = customer === undefined ? sql`true` : sql`l.customer_id = ${customer}`;
  const rows = await db.all<LinkRow>(sql`
    ${SELECT} where ${hasNotEnded(nowSeconds)} and ${ofCustomer}
    order by l.created_at desc, l.id desc limit ${MAX_LINKS_SHOWN}`);
  return rows.map(toLinkView);
}

function toLinkView({ customer, createdAt, endsAt, openedAt, ...row }: LinkRow): LinkView {
  return {
    ...row,
    customer: JSON.parse(customer),
    createdAt: rfc3339(createdAt),
    endsAt: rfc3339(endsAt),
    openedAt: rfc3339OrNull(openedAt),
  };
}

/** Why the link's customer cannot rotate the key. Operators have disabled the keys that are not active. */
export function rotationRefusal({ id, customerId }: OwnerLink, nowSeconds: number) {
  return sql`iif(status = 'active' and customer_id = ${customerId}
    and exists (select 1 from owner_links where id = ${id} and ${hasNotEnded(nowSeconds)}), null, 'cannot be rotated with this link any more')`;
}
