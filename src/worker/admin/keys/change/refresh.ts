/** Makes the limiters of all keys read again: D1 was restored to an earlier state. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { markAllOutdated } from "../../../key/outdated-keys-sql.ts";
import { counted } from "../../../text/format.ts";
import { sentenceOf } from "../../../text/says.ts";
import { type ChangeInput, commit } from "../../change.ts";
import { MAX_KEYS_AT_ONCE, refreshLimiters } from "../../refresh-limiters.ts";
import { SAYS } from "../../says.ts";
import type { refreshedKeys } from "../schema.ts";

export async function refreshKeys(
  input: Pick<ChangeInput, "env" | "author">,
): Promise<v.InferOutput<typeof refreshedKeys>> {
  await commit(input, {
    ...{ call: "keys.refresh_all", object: sql`'keys'`, from: sql`(select 1)`, onlyIf: sql`true` },
    ...{ find: sql`select 1`, statements: () => [markAllOutdated()] },
  });
  const outdated = (await refreshLimiters(input.env, "all", MAX_KEYS_AT_ONCE))?.outdated ?? null;
  if (outdated === null) return { outdated, says: "The database failed: try again." };
  const says = sentenceOf("All keys", SAYS["keys.refresh_all"]());
  const later = `${counted(outdated, "key")} follow${outdated === 1 ? "s" : ""} within minutes.`;
  return { outdated, says: outdated === 0 ? says : `${says} ${later}` };
}
