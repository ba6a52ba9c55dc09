/** Limits of a key for a time, such as twice the usual ones until tomorrow. They end by themselves (ADR-4). */
import type { Bindings } from "../../context.ts";
import { openDatabase, transact } from "../../db/database.ts";
import { conflict, invalidRequest } from "../../errors.ts";
import { logEvent } from "../../log.ts";
import { rfc3339 } from "../../time.ts";
import { type Audited, type Author, audit, type Change, isAudited } from "../audit/sql.ts";
import type { LimitChanges } from "../plans/sql.ts";
import { requireVersion } from "../precondition.ts";
import { notifyLimiter, onlyKey, REVOKED, requireChangeableKey, type UpdatedKey } from "./service.ts";
import {
  isChangeable,
  isTemporarilyLimited,
  type KeyRow,
  selectKey,
  selectKeyMembers,
  updateKeyRow,
} from "./sql.ts";

/** `until` is in Unix seconds. */
type Request = LimitChanges & { readonly until: number; readonly reason: string | null };

/** Replaces temporary limits that the key has. */
export async function limitTemporarily(
  env: Bindings,
  id: string,
  { requestsPerMinute = null, requestsPerDay = null, until, reason }: Request,
  author: Author,
  expectedVersion?: number,
): Promise<UpdatedKey> {
  if (requestsPerMinute === null && requestsPerDay === null) {
    throw invalidRequest("requestsPerMinute, requestsPerDay: at least one is required");
  }
  const temporaryLimits = { requestsPerMinute, requestsPerDay, until: rfc3339(until) };
  const key = await setTemporaryLimits(
    env,
    id,
    {
      call: "keys.limit_temporarily",
      after: { temporaryLimits, reason },
      columns: {
        temporaryRequestsPerMinute: requestsPerMinute,
        temporaryRequestsPerDay: requestsPerDay,
        temporaryUntil: until,
      },
      condition: isChangeable(id, expectedVersion),
    },
    author,
    expectedVersion,
  );
  logEvent("key_limits_set", {
    requestId: author.requestId,
    keyId: id,
    perMinute: requestsPerMinute ?? "unchanged",
    perDay: requestsPerDay ?? "unchanged",
    until: temporaryLimits.until,
  });
  return key;
}

/** Of a key without temporary limits it changes nothing, and writes no audit row. */
export function endTemporaryLimits(
  env: Bindings,
  id: string,
  author: Author,
  expectedVersion?: number,
): Promise<UpdatedKey> {
  return setTemporaryLimits(
    env,
    id,
    {
      call: "keys.end_temporary_limits",
      after: { temporaryLimits: null },
      columns: { temporaryRequestsPerMinute: null, temporaryRequestsPerDay: null, temporaryUntil: null },
      condition: isTemporarilyLimited(id, author.at, expectedVersion),
    },
    author,
    expectedVersion,
  );
}

type Setting = Pick<Change, "call" | "after"> & {
  readonly columns: Parameters<typeof updateKeyRow>[2];
  readonly condition: Parameters<typeof updateKeyRow>[3];
};

async function setTemporaryLimits(
  env: Bindings,
  id: string,
  { call, after, columns, condition }: Setting,
  author: Author,
  expectedVersion: number | undefined,
): Promise<UpdatedKey> {
  const db = openDatabase(env.DB);
  await requireChangeableKey(db, id, expectedVersion);
  const change: Change = { call, object: id, before: selectKeyMembers(id, ["temporaryLimits"]), after };
  const [[audited], , rows] = await transact<[Audited, never, KeyRow]>(db, [
    audit(db, author, change, condition),
    updateKeyRow(db, id, columns, isAudited(author, change)),
    selectKey(id, author.at),
  ]);
  const key = onlyKey(rows);
  if (!audited && key.status === "revoked") throw conflict(REVOKED);
  if (!audited) requireVersion(key, expectedVersion);
  return notifyLimiter(env, key);
}
