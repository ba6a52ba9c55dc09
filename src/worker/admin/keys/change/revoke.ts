/** Revokes keys: one, or several. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { type ChangeInput, type ChangeOfRows, make, updateRows } from "../../change.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import type { ChangedKeys, keySelection, updatedKey } from "../schema.ts";
import { KEYS, keyTarget } from "../sql.ts";
import { changeSeveral, type SeveralInput } from "./several.ts";

const REVOCATION = {
  call: "keys.revoke",
  before: ["status"],
  after: { status: "revoked" },
  keeps: sql`iif(status = 'revoked', 'is revoked, which is permanent', null)`,
  statements: (made) => [updateRows(KEYS, made, ["status"])],
} as const satisfies ChangeOfRows;

/** Revoking a revoked key changes nothing and writes no audit row. */
export async function revokeKey(input: ChangeInput): Promise<v.InferOutput<typeof updatedKey>> {
  const { env, author, id } = input;
  const { now, says } = await make(input, keyTarget(id, author.at), REVOCATION);
  const effective = await refreshAtOnce(env, { key: id });
  return { ...now, effective, says: says(effective) };
}

export function revokeKeys(input: SeveralInput<v.InferOutput<typeof keySelection>>): Promise<ChangedKeys> {
  return changeSeveral(input, REVOCATION);
}
