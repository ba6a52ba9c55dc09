/** Makes and revokes the links of owners' pages (ADR-34). */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase, render, rfc3339Sql, transact } from "../../db/database.ts";
import { ownerLinks } from "../../db/schema.ts";
import { alertStatements } from "../../key/alerts.ts";
import { hashKey, MacKeys } from "../../key/mac.ts";
import { mintUnsignedCode } from "../../key/owner-code.ts";
import { notFound } from "../../platform/errors.ts";
import { formatTime } from "../../text/format.ts";
import { foldCase } from "../../text/text.ts";
import { DAY_SECONDS, rfc3339 } from "../../text/time.ts";
import { deliverSoon } from "../alerts/deliver.ts";
import { audit, isAudited } from "../audit/sql.ts";
import type { Input } from "../call.ts";
import { type ChangeInput, insertRow } from "../change.ts";
import { randomBytes } from "../keys/mint.ts";
import type { issuedLink, LinkView, newLink } from "./schema.ts";
import { findOwner, type LinkRow, linkIdOf, toLinkView } from "./sql.ts";

export async function createLink({
  env,
  author,
  body,
  origin,
}: Pick<Input<v.InferOutput<typeof newLink>, unknown>, "env" | "author" | "body" | "origin">): Promise<
  v.InferOutput<typeof issuedLink>
> {
  const db = openDatabase(env.DB);
  const found = await findOwner(db, body.owner);
  if (found === undefined) throw notFound("No key that is not revoked has this owner.");
  const { owner, ownerEmail, keyId } = found;
  const unsigned = mintUnsignedCode(await hashKey(foldCase(owner)), randomBytes);
  const code = await new MacKeys().sign(env, unsigned);
  const hash = await hashKey(code);
  const row: LinkRow = {
    id: linkIdOf(hash),
    hash,
    owner,
    ownerKey: foldCase(owner),
    createdAt: author.at,
    createdBy: author.actor,
    endsAt: author.at + body.days * DAY_SECONDS,
  };
  const change = {
    call: "links.create",
    object: row.id,
    after: { owner, endsAt: rfc3339(row.endsAt) },
  } as const;
  const isMade = isAudited(author, change);
  const endsAt = rfc3339(row.endsAt);
  const alerts = alertStatements(env, keyId, {
    id: row.id,
    type: "owner.link",
    at: author.at,
    says: `can be seen by its owner with a link until ${formatTime(endsAt)}. ${author.actor} made the link.`,
    data: { link: row.id, ownerEmail, endsAt, madeBy: author.actor },
  });
  await transact(db, [
    audit(db, author, change),
    ...[insertRow(ownerLinks, row), ...alerts].map((statement) => render(statement, isMade)),
  ]);
  if (alerts.length > 0) deliverSoon(env);
  return { ...toLinkView(row), link: `${origin}/owner#${code}` };
}

/** The link stops working at once. */
export async function revokeLink({
  env,
  author,
  id,
}: Pick<ChangeInput, "env" | "author" | "id">): Promise<LinkView> {
  const db = openDatabase(env.DB);
  const change = {
    call: "links.revoke",
    object: id,
    before: sql`(select json_object('owner', owner, 'endsAt', ${rfc3339Sql(sql`ends_at`)}) from owner_links where id = ${id})`,
  } as const;
  const [, [row]] = await transact<[unknown, LinkRow]>(db, [
    audit(db, author, change, sql`exists (select 1 from owner_links where id = ${id})`),
    sql`
      delete from owner_links where id = ${id} and ${isAudited(author, change)}
      returning id, hash, owner, owner_key as ownerKey, created_at as createdAt, created_by as createdBy, ends_at as endsAt`,
  ]);
  if (row === undefined) throw notFound("No link has this id. It has ended, or it was revoked.");
  return toLinkView(row);
}
