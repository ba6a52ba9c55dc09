/** Makes a new secret of a key, and its row for D1. */

import type { Bindings } from "../../context.ts";
import type { keySecrets } from "../../db/schema.ts";
import { type Location, maskKey, mintKeyId, mintUnsigned } from "../../key/key.ts";
import { hashKey, MacKeys, randomBytes } from "../../key/mac.ts";

export async function mintSecret(
  env: Bindings,
  { id, location }: { readonly id: string; readonly location: Location | null },
  createdAt: number,
): Promise<{ key: string; row: typeof keySecrets.$inferInsert }> {
  const unsigned = mintUnsigned(id, location, randomBytes);
  const key = await new MacKeys().sign(env, unsigned);
  return { key, row: { hash: await hashKey(key), keyId: id, hint: maskKey(key), createdAt } };
}

/** Makes an id before the request, so that a repeated request makes no second key. */
export function newKeyId(): string {
  return mintKeyId(randomBytes);
}
