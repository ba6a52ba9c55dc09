/** Creates keys. */
import type * as v from "valibot";
import type { Author } from "../../../context.ts";
import { apiKeys, keySecrets } from "../../../db/schema.ts";
import { conflict } from "../../../platform/errors.ts";
import { logEvent } from "../../../platform/log.ts";
import { sentenceOf } from "../../../text/says.ts";
import { foldCase, foldForSearch } from "../../../text/text.ts";
import { rfc3339OrNull } from "../../../text/time.ts";
import { type ChangeInput, create, insertRow, versionOf } from "../../change.ts";
import type { LimitChanges } from "../../plans/sql.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import { limitsRefusal } from "../../refusal-sql.ts";
import { mintSecret, newKeyId } from "../mint.ts";
import { KEYS_SAY } from "../says.ts";
import type { issuedKey, newKey } from "../schema.ts";
import { keyTarget } from "../sql.ts";

export type KeyChanges = Partial<typeof apiKeys.$inferInsert>;

export async function issueKey(
  input: Pick<ChangeInput<v.InferOutput<typeof newKey>>, "env" | "author" | "body">,
): Promise<v.InferOutput<typeof issuedKey>> {
  const { env, author, body } = input;
  const { name, plan, requestsPerMinute = null, requestsPerDay = null, expiresAt = null } = body;
  const { ownerName = null, ownerEmail = null, note = null, location = null, mayCancel } = body;
  const limits = { requestsPerMinute, requestsPerDay };
  const fields = { name, ownerName, ownerEmail, note, plan, ...limits, mayCancel, expiresAt, location };
  const id = body.id ?? newKeyId();
  const { key, row } = await mintSecret(env, { id, location }, author.at);
  const created = await create(input, keyTarget(id, author.at), {
    call: "keys.create",
    after: { ...toAuditFields(fields), hint: row.hint },
    refused: limitsRefusal(plan, requestsPerMinute, requestsPerDay),
    statements: (made) => [
      insertRow(apiKeys, {
        ...{ ...fields, ...foldedOf(fields), id },
        ...{ createdAt: author.at, version: versionOf(made) },
      }),
      insertRow(keySecrets, row),
    ],
  });
  if (created === undefined) throw conflict(`Key ${id} exists already.`);
  if (requestsPerMinute !== null || requestsPerDay !== null) logOwnLimits(id, body, author);
  // A key with this id may have been deleted, and its limiter still have the old policy.
  if (body.id !== undefined) await refreshAtOnce(env, { key: id });
  const { now, entry } = created;
  // The entry has the limits of its own that the key has, and the sentence says the limits in force.
  const says = KEYS_SAY["keys.create"]({}, { ...entry.after, limits: now.limits });
  return { ...now, says: sentenceOf(`${name} (${id})`, says), key };
}

type Texts = Pick<KeyChanges, "name" | "ownerName" | "ownerEmail" | "note">;

/** The texts of which a key has folded ones, too. */
export const FOLDED: readonly string[] = ["name", "ownerName", "ownerEmail", "note"];

/** Returns the columns that a search and the sums of an owner compare. */
export function foldedOf({ name, ownerName, ownerEmail, note }: Texts): KeyChanges {
  const search = [name, ownerName, ownerEmail, note].map((text) => foldForSearch(text ?? "")).join("\n");
  return { search, ownerKey: foldCase(ownerName ?? ownerEmail ?? "") };
}

/** Logs the limits of a key that override the limits of its plan. */
export function logOwnLimits(
  keyId: string,
  { requestsPerMinute, requestsPerDay }: LimitChanges,
  { requestId }: Author,
): void {
  if (requestsPerMinute === undefined && requestsPerDay === undefined) return;
  const shown = (limit: number | null | undefined) => limit ?? (limit === null ? "of the plan" : "unchanged");
  logEvent("key_limits_set", {
    requestId,
    keyId,
    perMinute: shown(requestsPerMinute),
    perDay: shown(requestsPerDay),
  });
}

/** The members as the audit log has them. */
export function toAuditFields({ expiresAt, ...fields }: KeyChanges): Record<string, unknown> {
  return expiresAt === undefined ? fields : { ...fields, expiresAt: rfc3339OrNull(expiresAt) };
}
