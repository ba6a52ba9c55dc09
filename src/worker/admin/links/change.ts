/** Makes the links of owners' pages (ADR-34). */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { namedCustomer } from "../../db/customers-sql.ts";
import { openDatabase } from "../../db/database.ts";
import { ownerLinks } from "../../db/schema.ts";
import { alertStatements } from "../../key/alerts.ts";
import { hashKey, MacKeys, randomBytes } from "../../key/mac.ts";
import { mintUnsignedCode } from "../../key/owner-code.ts";
import { conflict } from "../../platform/errors.ts";
import { formatTime } from "../../text/format.ts";
import { sentenceOf } from "../../text/says.ts";
import { DAY_SECONDS, rfc3339 } from "../../text/time.ts";
import { deliverSoon } from "../alerts/deliver.ts";
import type { Input } from "../call.ts";
import { create, insertRow } from "../change.ts";
import { SAYS } from "../says.ts";
import type { issuedLink, newLink } from "./schema.ts";
import { linkIdOf, linkTarget } from "./sql.ts";

const NO_KEY = "has no key to show: its customer has none that is not revoked";

export async function createLink({
  env,
  author,
  body,
  origin,
}: Pick<Input<v.InferOutput<typeof newLink>, unknown>, "env" | "author" | "body" | "origin">): Promise<
  v.InferOutput<typeof issuedLink>
> {
  const db = openDatabase(env.DB);
  const customerId = await namedCustomer(db, body.customer);
  const usableKeys = sql`select id from api_keys where customer_id = ${customerId} and status <> 'revoked'`;
  const key = await db.get<{ id: string } | undefined>(sql`${usableKeys} order by rowid limit 1`);
  if (key === undefined) throw conflict(`The link ${NO_KEY}.`);
  const code = await new MacKeys().sign(env, mintUnsignedCode(randomBytes));
  const hash = await hashKey(code);
  const id = linkIdOf(hash);
  const link = {
    ...{ id, hash, customerId, createdAt: author.at, createdBy: author.actor },
    endsAt: author.at + body.days * DAY_SECONDS,
  };
  const endsAt = rfc3339(link.endsAt);
  const alerts = alertStatements(env, key.id, {
    id,
    type: "owner.link",
    at: author.at,
    says: `can be seen by its owner with a link until ${formatTime(endsAt)}. ${author.actor} made the link.`,
    data: { link: id, endsAt, madeBy: author.actor },
  });
  const created = await create({ env, author }, linkTarget(id), {
    ...{ call: "links.create", after: { customer: customerId, endsAt } },
    refused: sql`iif(exists (${usableKeys}), null, ${NO_KEY})`,
    statements: () => [insertRow(ownerLinks, link), ...alerts],
  });
  if (created === undefined) throw new Error("a code was minted twice");
  if (alerts.length > 0) deliverSoon(env);
  const says = sentenceOf(id, SAYS["links.create"]({}, created.entry.after));
  return { ...created.now, says, link: `${origin}/owner#${code}` };
}
