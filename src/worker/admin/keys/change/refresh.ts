/** Makes limiters of keys read again: D1 was restored to an earlier state, or changed by plain SQL. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { markOutdated } from "../../../key/outdated-keys-sql.ts";
import { counted } from "../../../text/format.ts";
import { sentenceOf } from "../../../text/says.ts";
import { type ChangeInput, commit, make } from "../../change.ts";
import { MAX_KEYS_AT_ONCE, refreshLimiters } from "../../refresh-limiters.ts";
import { SAYS } from "../../says.ts";
import type { refreshedKeys } from "../schema.ts";
import { keyTarget } from "../sql.ts";

type Refreshed = v.InferOutput<typeof refreshedKeys>;

export async function refreshKey(input: ChangeInput): Promise<Refreshed> {
  const { env, author, id } = input;
  const keys = { key: id };
  const change = { call: "keys.refresh", statements: () => [markOutdated(keys)] } as const;
  const { says } = await make(input, keyTarget(id, author.at), change);
  return refreshed(says(), await refreshLimiters(env, keys, MAX_KEYS_AT_ONCE));
}

export async function refreshAllKeys(input: Pick<ChangeInput, "env" | "author">): Promise<Refreshed> {
  await commit(input, {
    ...{ call: "keys.refresh_all", object: sql`'keys'`, from: sql`(select 1)`, onlyIf: sql`true` },
    ...{ find: sql`select 1`, statements: () => [markOutdated("all")] },
  });
  const says = sentenceOf("All keys", SAYS["keys.refresh_all"]());
  return refreshed(says, await refreshLimiters(input.env, "all", MAX_KEYS_AT_ONCE));
}

function refreshed(says: string, outdated: number | null): Refreshed {
  if (outdated === null) return { outdated, says: "The database failed: try again." };
  const later = `${counted(outdated, "key")} follow${outdated === 1 ? "s" : ""} within minutes.`;
  return { outdated, says: outdated === 0 ? says : `${says} ${later}` };
}
