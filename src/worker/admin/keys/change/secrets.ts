/** Gives keys new secrets, and ends old ones. */
import { type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase, rfc3339Sql } from "../../../db/database.ts";
import { keySecrets } from "../../../db/schema.ts";
import { SECRET_ID_CHARS } from "../../../key/key.ts";
import { notFound } from "../../../platform/errors.ts";
import { sentenceOf } from "../../../text/says.ts";
import { type ChangeInput, insertRow, jsonOf, type Made, make, updateRows } from "../../change.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import { keyRefusal } from "../../refusal-sql.ts";
import { SAYS } from "../../says.ts";
import { mintSecret } from "../mint.ts";
import type { rotatedKey, rotation, updatedKey } from "../schema.ts";
import { KEYS, keyTarget, requireKey } from "../sql.ts";

const REVOKED = keyRefusal(sql`'{}'`);

/** A time of the entry. Each statement of a batch reads the clock anew, so two statements could have two times. */
function timeIn(made: Made, member: string): SQL {
  return sql`(select unixepoch(after ->> ${member}) from ${made})`;
}

/**
 * The old secrets expire after the grace, or at their own earlier end. Without a version, this expects the
 * version that it reads, so that one of several rotations at once succeeds: each would end the secrets of the
 * others. `refused` is SQL: a further reason why the key cannot be rotated.
 */
export async function rotateKey(
  input: ChangeInput<v.InferOutput<typeof rotation>>,
  refused: SQL = sql`null`,
): Promise<v.InferOutput<typeof rotatedKey>> {
  const { env, author, id, body } = input;
  const before = await requireKey(openDatabase(env.DB), id);
  const { key, row } = await mintSecret(env, before, author.at);
  // The policy of a limiter also asks D1's clock whether a secret has ended.
  const auditedEnd = rfc3339Sql(sql`unixepoch() + ${body.graceSeconds}`);
  const { expected = before.version } = input;
  const { now, says } = await make({ ...input, expected }, keyTarget(id, author.at), {
    call: "keys.rotate",
    before: ["hints"],
    after: sql`json_object('hint', ${row.hint}, 'oldSecretsExpireAt', ${auditedEnd})`,
    refused: sql`coalesce(${refused}, ${REVOKED}, iif(expires_at <= ${author.at}, 'has expired and cannot be rotated', null))`,
    statements: (made) => {
      const end = timeIn(made, "oldSecretsExpireAt");
      return [
        insertRow(keySecrets, row),
        {
          head: sql`update key_secrets set expires_at = ${end}`,
          where: sql`key_id = ${id} and hash <> ${row.hash} and (expires_at is null or expires_at > ${end})`,
        },
        updateRows(KEYS, made, []),
      ];
    },
  });
  const effective = await refreshAtOnce(env, { key: id });
  return { ...now, effective, says: says(effective), key };
}

/** Ends one secret of a key at once. A secret that has ended stays unchanged, without an audit row. */
export async function retireSecret(
  input: ChangeInput & { readonly partId: string },
): Promise<v.InferOutput<typeof updatedKey>> {
  const { env, author, id, partId: secretId } = input;
  const { secrets } = await requireKey(openDatabase(env.DB), id);
  const secret = secrets.find((each) => each.id === secretId);
  if (secret === undefined) throw notFound("The key has no secret with this id.");
  const isNamed = sql`substr(hash, 1, ${SECRET_ID_CHARS}) = ${secretId}`;
  const named = sql`key_secrets where key_id = ${id} and ${isNamed}`;
  const valid = sql`key_secrets where key_id = ${id} and (expires_at is null or expires_at > unixepoch())`;
  const members = { secret: sql`${secretId}`, hint: sql`hint`, expiresAt: rfc3339Sql(sql`expires_at`) };
  const isOnly = sql`exists (select 1 from ${valid} and ${isNamed}) and not exists (select 1 from ${valid} and not ${isNamed})`;
  const { now, entry, says } = await make(input, keyTarget(id, author.at), {
    call: "keys.retire",
    before: sql`(select ${jsonOf(members)} from ${named})`,
    after: sql`json_object('expiresAt', ${rfc3339Sql(sql`unixepoch()`)})`,
    refused: sql`coalesce(${REVOKED}, iif(${isOnly}, 'has only this valid secret: rotate the key, or revoke it', null))`,
    keeps: sql`iif(exists (select 1 from ${valid} and ${isNamed}), null, 'has the secret no longer')`,
    statements: (made) => [
      {
        head: sql`update key_secrets set expires_at = ${timeIn(made, "expiresAt")}`,
        where: sql`key_id = ${id} and ${isNamed}`,
      },
      updateRows(KEYS, made, []),
    ],
  });
  const effective = await refreshAtOnce(env, { key: id });
  const saysNothingNew = sentenceOf(now.name, SAYS["keys.retire"](secret), effective);
  return { ...now, effective, says: entry === undefined ? saysNothingNew : says(effective) };
}
