/** D1: the links of owners' pages. */
import { and, desc, eq, gt, sql } from "drizzle-orm";
import { type Database, rfc3339Sql } from "../../db/database.ts";
import { ownerLinks } from "../../db/schema.ts";
import { foldCase } from "../../text/text.ts";
import { rfc3339 } from "../../text/time.ts";
import type { Kind, Target } from "../change.ts";
import type { Position } from "../http/cursor.ts";
import { LINKS_SAY } from "./says.ts";
import type { LinkView } from "./schema.ts";

export type LinkRow = typeof ownerLinks.$inferSelect;

/** The first 64 bits of the hash name a link. */
export function linkIdOf(hash: string): string {
  return `link_${hash.slice(0, 16)}`;
}

/** Finds the link with this hash if it has not ended. A link that was revoked has no row. */
export async function findLiveLink(
  db: Database,
  hash: string,
  nowSeconds: number,
): Promise<LinkRow | undefined> {
  const isFound = and(eq(ownerLinks.id, linkIdOf(hash)), eq(ownerLinks.hash, hash));
  return db
    .select()
    .from(ownerLinks)
    .where(and(isFound, gt(ownerLinks.endsAt, nowSeconds)))
    .get();
}

export const LINKS = {
  table: ownerLinks,
  noun: "link",
  title: sql`owner_links.id`,
  members: { owner: ownerLinks.owner, endsAt: rfc3339Sql(sql`ends_at`) },
  says: LINKS_SAY,
} satisfies Kind;

export function linkTarget(id: string): Target<LinkRow, LinkView> {
  return {
    ...{ kind: LINKS, id, view: toLinkView },
    select: sql`
      select id, hash, owner, owner_key as ownerKey, created_at as createdAt, created_by as createdBy, ends_at as endsAt
      from owner_links where id = ${id}`,
  };
}

export type Owner = { readonly owner: string; readonly ownerEmail: string | null; readonly keyId: string };

/** Reads the owner in a key that is not revoked, if possible in one with an e-mail address. */
export async function findOwner(db: Database, owner: string): Promise<Owner | undefined> {
  return db.get<Owner | undefined>(sql`
    select coalesce(owner_name, owner_email) as owner, owner_email as ownerEmail, id as keyId from api_keys
    where owner_key = ${foldCase(owner)} and status <> 'revoked' and owner_key <> ''
    order by owner_email is null, rowid limit 1`);
}

/** Lists the links that have not ended, the newest first. */
export async function listLinks(
  db: Database,
  owner: string | undefined,
  after: Position | undefined,
  maxRows: number,
  nowSeconds: number,
): Promise<LinkRow[]> {
  const isAfter = after && sql`(${ownerLinks.createdAt}, ${ownerLinks.id}) < (${after.value}, ${after.id})`;
  return db
    .select()
    .from(ownerLinks)
    .where(
      and(
        gt(ownerLinks.endsAt, nowSeconds),
        owner === undefined ? undefined : eq(ownerLinks.ownerKey, foldCase(owner)),
        isAfter,
      ),
    )
    .orderBy(desc(ownerLinks.createdAt), desc(ownerLinks.id))
    .limit(maxRows);
}

export function toLinkView({ hash: _, ownerKey: __, ...row }: LinkRow): LinkView {
  return { ...row, createdAt: rfc3339(row.createdAt), endsAt: rfc3339(row.endsAt) };
}
