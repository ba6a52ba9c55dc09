/** Finds keys by what an operator has: an id, the SHA-256 of a secret, or what a customer reads out. */
import type { Database } from "../../db/database.ts";
import { invalidRequest } from "../../errors.ts";
import type { KeyView } from "./schema.ts";
import { listKeyIdsByHash, listKeyIdsByLastChars } from "./search-sql.ts";
import { findKeys } from "./sql.ts";

const ONE_OF = "Send exactly one of id, hash and hint.";
const MAX_KEYS_FOUND = 10;

/**
 * The last characters of a secret, after the masked beginning if the operator has the whole hint. A longer end is refused:
 * all characters after the prefix would be the secret.
 */
export const HINT = /^(?:(sok_[0-9A-Za-z]{2})(?:…|\.\.\.))?([0-9A-Za-z]{4,12})$/;

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
