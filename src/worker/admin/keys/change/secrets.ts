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
import { SAYS, saysOfEnding } from "../../says.ts";
import { findKey } from "../find.ts";
import { mintSecret } from "../mint.ts";
import type { rotatedKey, rotation, updatedKey } from "../schema.ts";
import { KEYS, keyTarget, requireKey } from "../sql.ts";

const REVOKED = keyRefusal(sql`'{}'`);

/** Each answer has them, and the row that the limiter stores for each request. */
const MAX_VALID_SECRETS = 10;
const IS_VALID = sql`(expires_at is null or expires_at > unixepoch())`;

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
  const end = sql`unixepoch() + ${body.graceSeconds}`;
  const isShortened = sql`key_id = ${id} and (expires_at is null or expires_at > ${end})`;
  const { expected = before.version } = input;
  const { now, says } = await make({ ...input, expected }, keyTarget(id, author.at), {
    call: "keys.rotate",
    before: sql`json_object('hints', json((select json_group_array(hint order by created_at, hint) from key_secrets where ${isShortened})))`,
    after: sql`json_object('hint', ${row.hint}, 'oldSecretsExpireAt', ${rfc3339Sql(end)})`,
    refused: sql`coalesce(${refused}, ${REVOKED}, case when expires_at <= ${author.at} then 'has expired and cannot be rotated'
      when ${body.graceSeconds} > 0 and (select count(*) from key_secrets where key_id = api_keys.id and ${IS_VALID}) >= ${MAX_VALID_SECRETS} then ${`has ${MAX_VALID_SECRETS} valid secrets, the most that a key can have: end one, or wait until one ends`} end)`,
    statements: (made) => {
      const auditedEnd = timeIn(made, "oldSecretsExpireAt");
      return [
        insertRow(keySecrets, row),
        {
          head: sql`update key_secrets set expires_at = ${auditedEnd}`,
          where: sql`key_id = ${id} and hash <> ${row.hash} and (expires_at is null or expires_at > ${auditedEnd})`,
        },
        updateRows(KEYS, made, []),
      ];
    },
  });
  const effective = input.isDryRun ? "immediately" : await refreshAtOnce(env, { key: id });
  return { ...now, effective, says: says(effective), key };
}

/** With a grace nothing ends at once, so there is nothing to ask. */
export async function previewRotation(input: ChangeInput<v.InferOutput<typeof rotation>>): Promise<string[]> {
  if (input.body.graceSeconds > 0) return [];
  await rotateKey({ ...input, isDryRun: true });
  const { secrets } = await findKey(input.env, input.id);
  return saysOfEnding(secrets, Date.now());
}

type SecretInput = ChangeInput & { readonly partId: string };

/** Ends one secret of a key at once. A secret that has ended stays unchanged, without an audit row. */
export async function retireSecret(input: SecretInput): Promise<v.InferOutput<typeof updatedKey>> {
  const { env, author, id, partId: secretId } = input;
  const { secrets } = await requireKey(openDatabase(env.DB), id);
  const secret = secrets.find((each) => each.id === secretId);
  if (secret === undefined) throw notFound("The key has no secret with this id.");
  const isNamed = sql`substr(hash, 1, ${SECRET_ID_CHARS}) = ${secretId}`;
  const named = sql`key_secrets where key_id = ${id} and ${isNamed}`;
  const valid = sql`key_secrets where key_id = ${id} and ${IS_VALID}`;
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
  const effective = input.isDryRun ? "immediately" : await refreshAtOnce(env, { key: id });
  const saysNothingNew = sentenceOf(now.name, SAYS["keys.retire"](secret), effective);
  return { ...now, effective, says: entry === undefined ? saysNothingNew : says(effective) };
}

export async function previewRetirement(input: SecretInput): Promise<string[]> {
  await retireSecret({ ...input, isDryRun: true });
  const { secrets } = await findKey(input.env, input.id);
  return saysOfEnding(secrets, Date.now(), input.partId);
}
