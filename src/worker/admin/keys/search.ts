/** Finds keys by what an operator has of one: its id, the SHA-256 of a secret, or what a customer reads out. */
import type { Database } from "../../db/database.ts";
import { invalidRequest } from "../../errors.ts";
import { HINT, type KeyView } from "./schema.ts";
import { findKeys, listKeyIdsByHash, listKeyIdsByLastChars } from "./sql.ts";

const ONE_OF = "Send exactly one of id, hash and hint.";
const MAX_KEYS_FOUND = 10;

export type KeySearch = {
  readonly id?: string | undefined;
  readonly hash?: string | undefined;
  readonly hint?: string | undefined;
};

export async function findKeysBy(db: Database, search: KeySearch, nowSeconds: number): Promise<KeyView[]> {
  const { id, hash, hint } = search;
  if (Object.keys(search).length !== 1) throw invalidRequest(ONE_OF);
  if (id !== undefined) return findKeys(db, [id], nowSeconds);
  if (hash !== undefined) return findKeys(db, await listKeyIdsByHash(db, hash), nowSeconds);
  const [, beginning = "", end = ""] = HINT.exec(hint ?? "") ?? [];
  const ids = await listKeyIdsByLastChars(db, { beginning, lastChars: end.slice(-4) }, MAX_KEYS_FOUND);
  return findKeys(db, ids, nowSeconds);
}
