/** The MAC of a key. An invented key is refused without a query and without a call of an object (ADR-2). */
import { sql } from "drizzle-orm";
import { type DatabaseEnv, openDatabase } from "../db/database.ts";
import { withDeadline } from "../platform/with-timeout.ts";
import { base62, MAC_LENGTH, type ParsedKey } from "./key.ts";

const READ_TIMEOUT_MS = 3_000;
const UTF_8 = new TextEncoder();

/** Newest first. */
type Keys = readonly [CryptoKey, ...CryptoKey[]];

/** The MAC keys in an isolate. MAC keys do not change, so an isolate reads them once. */
export class MacKeys {
  #keys: Keys | undefined;

  /** Whether the service made the key. Rejects if the isolate's first request cannot reach D1. */
  async verify(env: DatabaseEnv, { signed, mac }: Pick<ParsedKey, "signed" | "mac">): Promise<boolean> {
    for (const key of this.#keys ?? (await this.#read(env)))
      if ((await macOf(key, signed)) === mac) return true;
    return false;
  }

  /** Signs with the newest MAC key. */
  async sign(env: DatabaseEnv, unsigned: string): Promise<string> {
    const [newest] = this.#keys ?? (await this.#read(env));
    return unsigned + (await macOf(newest, unsigned));
  }

  /** Concurrent first requests each read, because in workerd no request may wait for another's promise. */
  async #read(env: DatabaseEnv): Promise<Keys> {
    const read = openDatabase(env.DB).all<{ hex: string }>(
      sql`select key as hex from mac_keys order by id desc`,
    );
    const rows = await withDeadline(read, READ_TIMEOUT_MS);
    const [newest, ...older] = await Promise.all(rows.map(({ hex }) => importMacKey(hex)));
    // The table can be empty during a restore. A 401 would tell every client that its key is invalid.
    if (newest === undefined) throw new Error("The table mac_keys is empty.");
    this.#keys = [newest, ...older];
    return this.#keys;
  }
}

/** `hex` has 32 bytes. */
export function importMacKey(hex: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", Uint8Array.fromHex(hex), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
}

/** Returns the first 6 bytes of the HMAC in base62. A number holds 6 bytes exactly. */
export async function macOf(key: CryptoKey, signed: string): Promise<string> {
  const mac = new DataView(await crypto.subtle.sign("HMAC", key, UTF_8.encode(signed)));
  return base62(mac.getUint16(0) * 2 ** 32 + mac.getUint32(2), MAC_LENGTH);
}

/** Returns the SHA-256 in lower-case hex. Keys are stored and compared as this hash (ADR-3). */
export async function hashKey(key: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", UTF_8.encode(key));
  return new Uint8Array(digest).toHex();
}

export function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
