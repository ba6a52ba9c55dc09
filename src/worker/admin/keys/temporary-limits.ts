/** Limits of a key for some UTC days, such as twice the usual limits today. They end by themselves. */
import type { Bindings } from "../../context.ts";
import { openDatabase, transact } from "../../db/database.ts";
import { conflict, invalidRequest } from "../../errors.ts";
import { logEvent } from "../../log.ts";
import { midnightAfter, rfc3339 } from "../../time.ts";
import { type Audited, type Author, audit, type Change, isAudited } from "../audit/sql.ts";
import type { LimitChanges } from "../plans/sql.ts";
import { requireVersion } from "../precondition.ts";
import { onlyKey, REVOKED, requireChangeableKey, tellLimiter, type UpdatedKey } from "./service.ts";
import {
  isChangeable,
  isTemporarilyLimited,
  type KeyRow,
  selectKey,
  selectKeyMembers,
  updateKeyRow,
} from "./sql.ts";

/** The first of the `days` is the UTC day in which the request arrives. */
type Request = LimitChanges & { readonly days: number; readonly reason: string | null };

/**
 * Replaces the temporary limits that the key has. Null ends them: of a key without any it changes nothing, and writes no audit row.
 */
export async function setTemporaryLimits(
  env: Bindings,
  id: string,
  request: Request | null,
  author: Author,
  expectedVersion?: number,
): Promise<UpdatedKey> {
  const { requestsPerMinute = null, requestsPerDay = null, reason = null } = request ?? {};
  if (request !== null && requestsPerMinute === null && requestsPerDay === null) {
    throw invalidRequest("requestsPerMinute, requestsPerDay: at least one is required");
  }
  // Temporary limits end at a midnight: then a refusal by a window never ends before the window does.
  const until = request && midnightAfter(author.at, request.days);
  const db = openDatabase(env.DB);
  await requireChangeableKey(db, id, expectedVersion);
  const change: Change = {
    call: request === null ? "keys.end_temporary_limits" : "keys.limit_temporarily",
    object: id,
    before: selectKeyMembers(id, ["temporaryLimits"]),
    after: until === null ? undefined : { requestsPerMinute, requestsPerDay, until: rfc3339(until), reason },
  };
  const condition = (request === null ? isTemporarilyLimited : isChangeable)(id, expectedVersion, author.at);
  const columns = {
    temporaryRequestsPerMinute: requestsPerMinute,
    temporaryRequestsPerDay: requestsPerDay,
    temporaryUntil: until,
  };
  const [[audited], , rows] = await transact<[Audited, never, KeyRow]>(db, [
    audit(db, author, change, condition),
    updateKeyRow(db, id, columns, isAudited(author, change)),
    selectKey(id, author.at),
  ]);
  const key = onlyKey(rows);
  if (!audited && key.status === "revoked") throw conflict(REVOKED);
  if (!audited) requireVersion(key, expectedVersion);
  if (until !== null) {
    const shown = { perMinute: requestsPerMinute ?? "unchanged", perDay: requestsPerDay ?? "unchanged" };
    const { requestId } = author;
    logEvent("key_limits_set", { requestId, keyId: id, ...shown, until: rfc3339(until) });
  }
  return tellLimiter(env, key);
}
