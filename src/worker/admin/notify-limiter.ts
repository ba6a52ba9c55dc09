/** After a change: the key's limiter is sent the new version, and refuses older records from then on. */
import type { Bindings } from "../context.ts";
import type { Database } from "../db/database.ts";
import { findLimitedKey } from "../db/limited-key-repository.ts";
import { raiseMinVersion } from "../limiter/limiter-admin-client.ts";
import { type Effective, effective } from "./effective.ts";

/**
 * A key that was never used has no limiter, and no isolate admits it by a record older than the change: its first use is
 * marked in D1, which shows the isolate the current version (ADR-17).
 */
export async function notifyLimiter(env: Bindings, db: Database, keyId: string): Promise<Effective> {
  const key = await findLimitedKey(db, keyId);
  return effective(!key?.isUsed || (await raiseMinVersion(env, key, key.version)));
}
