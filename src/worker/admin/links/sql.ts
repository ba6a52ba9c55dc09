/** D1: the links of owners' pages. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { foldCase } from "../../text/text.ts";
import { rfc3339 } from "../../text/time.ts";
import type { Position } from "../http/cursor.ts";
import type { LinkView } from "./schema.ts";

type Time = "createdAt" | "endsAt";
export type LinkRow = Omit<LinkView, Time> & { readonly [Name in Time]: number };

/** The columns of a `LinkRow`. */
export const LINK_ROW = sql`id, owner, created_at as createdAt, created_by as createdBy, ends_at as endsAt`;

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
  return db.get<LinkRow | undefined>(sql`
    select ${LINK_ROW} from owner_links
    where id = ${linkIdOf(hash)} and hash = ${hash} and ends_at > ${nowSeconds}`);
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
  const isOfOwner = owner === undefined ? sql`true` : sql`owner_key = ${foldCase(owner)}`;
  const isAfter = after ? sql`(created_at, id) < (${after.value}, ${after.id})` : sql`true`;
  return db.all<LinkRow>(sql`
    select ${LINK_ROW} from owner_links where ends_at > ${nowSeconds} and ${isOfOwner} and ${isAfter}
    order by created_at desc, id desc limit ${maxRows}`);
}

export function toLinkView(row: LinkRow): LinkView {
  return { ...row, createdAt: rfc3339(row.createdAt), endsAt: rfc3339(row.endsAt) };
}
