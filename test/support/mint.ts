/** Mints keys as the service does, with a MAC key that the tests write to D1. For Node and workerd. */
import { type Location, maskKey, mintKeyId, mintUnsigned } from "../../src/worker/key/key.ts";
import { hashKey, importMacKey, macOf } from "../../src/worker/key/mac.ts";

/** In hex. */
const MAC_KEY = "5a".repeat(32);

/** Replaces the random MAC key that the migration has made. */
export const SET_MAC_KEY = `update mac_keys set key = '${MAC_KEY}'`;

const macKey = importMacKey(MAC_KEY);

export type MintedKey = {
  readonly id: string;
  readonly key: string;
  /** As D1 stores it. */
  readonly hash: string;
  readonly hint: string;
};

/** A key with a valid MAC: of a new id, or another secret of a known id. D1 does not have it. */
export async function mintKey(id = newKeyId(), location: Location | null = null): Promise<MintedKey> {
  const unsigned = mintUnsigned(id, location, randomBytes);
  const key = unsigned + (await macOf(await macKey, unsigned));
  return { id, key, hash: await hashKey(key), hint: maskKey(key) };
}

export type KeyOptions = {
  readonly plan?: string;
  readonly perMinute?: number | null;
  readonly perDay?: number | null;
  readonly status?: string;
  readonly expiresAt?: number;
  /** Whether the key has been used, so that the admin API calls its limiter. */
  readonly used?: boolean;
};

/** SQL and the values that are bound to it. */
export type SqlStatement = readonly [sql: string, ...values: (string | number | null)[]];

/** What writes a key with its secret to D1. */
export function insertKey(minted: MintedKey, options: KeyOptions = {}): SqlStatement[] {
  const { plan = "business", perMinute = null, perDay = null, status = "active", expiresAt = null } = options;
  return [
    [
      `insert into api_keys (id, name, plan, requests_per_minute, requests_per_day, status, expires_at, created_at, first_used_at)
       values (?, 'test', ?, ?, ?, ?, ?, 0, ?)`,
      ...[minted.id, plan, perMinute, perDay, status, expiresAt, options.used ? 1 : null],
    ],
    ...(options.used ? [["insert into limiters values (?)", minted.id] as const] : []),
    insertSecret(minted),
  ];
}

export function insertSecret({ id, hash, hint }: MintedKey, expiresAt: number | null = null): SqlStatement {
  return [
    "insert into key_secrets (hash, key_id, hint, created_at, expires_at) values (?, ?, ?, 0, ?)",
    ...[hash, id, hint, expiresAt],
  ];
}

/** A key whose MAC is wrong. */
export async function inventKey(): Promise<string> {
  const { key } = await mintKey();
  return key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
}

export function newKeyId(): string {
  return mintKeyId(randomBytes);
}

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
