/** Makes and revokes the links of owners' pages (ADR-34). */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase } from "../../db/database.ts";
import { ownerLinks } from "../../db/schema.ts";
import { alertStatements } from "../../key/alerts.ts";
import { hashKey, MacKeys } from "../../key/mac.ts";
import { mintUnsignedCode } from "../../key/owner-code.ts";
import { notFound } from "../../platform/errors.ts";
import { formatTime } from "../../text/format.ts";
import { sentenceOf } from "../../text/says.ts";
import { foldCase } from "../../text/text.ts";
import { DAY_SECONDS, rfc3339 } from "../../text/time.ts";
import { deliverSoon } from "../alerts/deliver.ts";
import type { Input } from "../call.ts";
import { type ChangeInput, create, insertRow, make } from "../change.ts";
import { randomBytes } from "../keys/mint.ts";
import { LINKS_SAY } from "./says.ts";
import type { issuedLink, newLink, revokedLink } from "./schema.ts";
import { findOwner, type LinkRow, linkIdOf, linkTarget } from "./sql.ts";

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
  const endsAt = rfc3339(row.endsAt);
  const alerts = alertStatements(env, keyId, {
    id: row.id,
    type: "owner.link",
    at: author.at,
    says: `can be seen by its owner with a link until ${formatTime(endsAt)}. ${author.actor} made the link.`,
    data: { link: row.id, ownerEmail, endsAt, madeBy: author.actor },
  });
  const created = await create({ env, author }, linkTarget(row.id), {
    ...{ call: "links.create", after: { owner, endsAt } },
    statements: () => [insertRow(ownerLinks, row), ...alerts],
  });
  if (created === undefined) throw new Error("a code was minted twice");
  if (alerts.length > 0) deliverSoon(env);
  const says = sentenceOf(row.id, LINKS_SAY["links.create"]({}, created.entry.after));
  return { ...created.now, says, link: `${origin}/owner#${code}` };
}

/** The link stops working at once. */
export async function revokeLink(
  input: Pick<ChangeInput, "env" | "author" | "id" | "expected">,
): Promise<v.InferOutput<typeof revokedLink>> {
  const { now, says } = await make(input, linkTarget(input.id), {
    ...{ call: "links.revoke", before: ["owner", "endsAt"], removes: true },
    statements: () => [{ head: sql`delete from owner_links`, where: sql`id = ${input.id}` }],
  });
  return { ...now, says: says() };
}
