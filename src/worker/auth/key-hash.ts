/** How a key is stored and looked up. */

/** SHA-256, lower-case hex. A key has 190 random bits, so a slow or salted hash would add nothing (ADR-3). */
export async function hashKey(key: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return new Uint8Array(digest).toHex();
}
