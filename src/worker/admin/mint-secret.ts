/** Makes a new secret of a key, and the row that D1 has of it. */
import { maskKey, mintKey } from "../auth/key-format.ts";
import { hashKey } from "../auth/key-hash.ts";
import type { NewSecret } from "../db/secret-repository.ts";

export async function mintSecret(keyId: string, createdAt: number): Promise<{ key: string; row: NewSecret }> {
  const key = mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
  return { key, row: { hash: await hashKey(key), keyId, hint: maskKey(key), createdAt } };
}
