/** Bans keys and lifts bans. Both change the key's record, so they take effect like any other change of it (ADR-13). */
import type { Bindings } from "../context.ts";
import { type Author, audit, type Change } from "../db/audit-repository.ts";
import {
  type BanRow,
  type BanView,
  findLastStrikeBanId,
  insertBan,
  isAnyLive,
  isAnyLiveOrUnforgiven,
  liftInRecord,
  markLifted,
  markLiveBansLifted,
  selectLiveBanSummary,
  selectLiveBans,
  setOperatorBan,
  toBanView,
} from "../db/ban-repository.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { type NamedKeyRecord, selectNotice } from "../db/key-record-repository.ts";
import { writeUsageReport } from "../db/usage-report-repository.ts";
import { conflict, unavailable } from "../errors.ts";
import { inspectLimiter, raiseMinVersion } from "../limiter/limiter-admin-client.ts";
import { logEvent } from "../log.ts";
import { nowSeconds, rfc3339 } from "../time.ts";
import { type Effective, effective } from "./effective.ts";
import { requireKeyRecord } from "./key-service.ts";

const NOT_LIVE = "This ban is not live any more: it has ended, or it was lifted or replaced.";
const NOT_REACHED = "The limiter cannot be reached, so it is not known";
const NOT_FORGIVEN = "Nothing was changed. Without `forgive`, the live bans that are known are lifted.";

export type BanSet = {
  readonly ban: BanView;
  readonly replaced: readonly BanView[];
  /** False if the limiter could not be inspected: a ban for strikes that it has not reported yet stays. */
  readonly replacedAll: boolean;
  readonly effective: Effective;
};

/** Replaces the bans that are live, whichever ends later: so an operator can shorten a ban, or correct its reason. */
export async function banKey(
  env: Bindings,
  keyId: string,
  { seconds, reason }: { readonly seconds: number; readonly reason: string },
  author: Author,
): Promise<BanSet> {
  const db = openDatabase(env.DB);
  const key = await requireKeyRecord(db, keyId);
  const { isComplete } = await findKnownBans(env, db, key, author.at);
  const ban: BanRow = {
    id: `ban_${crypto.randomUUID()}`,
    keyId,
    cause: "operator",
    reason,
    strikes: 0,
    startedAt: author.at,
    endsAt: author.at + seconds,
    liftedAt: null,
    liftedBy: null,
  };
  const change: Change = {
    call: "bans.set",
    object: keyId,
    before: selectLiveBanSummary(keyId, author.at),
    after: banSummary(ban),
  };
  const [, , replaced, , after] = await db.batch([
    audit(db, author, change),
    setOperatorBan(db, keyId, ban.id, author.at),
    markLiveBansLifted(db, keyId, { at: author.at, by: author.actor }),
    insertBan(db, ban),
    selectNotice(db, keyId),
  ]);
  logEvent("ban_set", { requestId: author.requestId, keyId, ban: ban.id });
  const effective = await notifyLimiter(env, noticeOf(key, after));
  return {
    ban: toBanView(ban, key.name, nowSeconds()), // a short one may be over
    replaced: replaced.map((each) => toBanView(each, key.name, author.at)),
    replacedAll: isComplete,
    effective,
  };
}

export type BanLifted = {
  readonly lifted: BanView | null;
  /**
   * False if a live ban may be left: one that D1 has, since it was not named, or began or was set meanwhile, or one for
   * strikes that the limiter, not inspected, has not reported.
   */
  readonly liftedAll: boolean;
  readonly effective: Effective;
};

/**
 * Lifts the operator ban that the key has when this first asks D1, and the ban for strikes that the limiter or D1 then has,
 * or only the named ban: one that an operator sets meanwhile stays. If the named ban is not live, nothing is changed, nor if
 * it is not known which ban is to be forgiven.
 */
export async function liftBan(
  env: Bindings,
  keyId: string,
  { forgive, ban }: { readonly forgive: boolean; readonly ban?: string | undefined },
  author: Author,
): Promise<BanLifted> {
  const db = openDatabase(env.DB);
  const key = await requireKeyRecord(db, keyId);
  const { live: known, lastStrikeBanId, isComplete } = await findKnownBans(env, db, key, author.at);
  if (!isComplete && known.length === 0)
    throw unavailable(`${NOT_REACHED} whether the key is banned.`, undefined);
  if (!isComplete && forgive)
    throw unavailable(`${NOT_REACHED} which ban is to be forgiven. ${NOT_FORGIVEN}`, undefined);
  const live = known.filter(({ id, cause }) =>
    ban === undefined ? cause === "strikes" || id === key.operatorBan?.id : id === ban,
  );
  if (ban !== undefined && live.length === 0) throw conflict(`${NOT_LIVE} ${describeLive(known)}`);
  const forgivenBanId = forgive ? lastStrikeBanId : undefined;
  const ids = live.map(({ id }) => id);
  const change: Change = {
    call: "bans.lift",
    object: keyId,
    before: selectLiveBanSummary(keyId, author.at, ids),
    after: { forgive },
  };
  const onlyIf =
    forgivenBanId === undefined || ban !== undefined
      ? isAnyLive(ids, author.at)
      : isAnyLiveOrUnforgiven(ids, author.at, keyId, forgivenBanId);
  const [, [changed], marked, after, left] = await db.batch([
    audit(db, author, change, onlyIf),
    liftInRecord(
      db,
      keyId,
      {
        operatorBanId: live.find(({ cause }) => cause === "operator")?.id,
        strikeBanId: live.find(({ cause }) => cause === "strikes")?.id,
        forgivenBanId,
      },
      author.at,
      onlyIf,
    ),
    markLifted(db, ids, { at: author.at, by: author.actor }),
    selectNotice(db, keyId),
    selectLiveBans(db, keyId, author.at),
  ]);
  if (ban !== undefined && marked.length === 0) throw conflict(`${NOT_LIVE} ${describeLive(left)}`);
  if (changed) {
    const forgiven = forgivenBanId === undefined ? 0 : 1;
    logEvent("ban_lifted", { requestId: author.requestId, keyId, bans: marked.length, forgiven });
  }
  const [lifted] = marked.toSorted((one, other) => other.endsAt - one.endsAt);
  return {
    lifted: lifted ? toBanView(lifted, key.name, author.at) : null,
    liftedAll: isComplete && left.length === 0,
    // Also if nothing was changed: an earlier lift may not have reached the limiter.
    effective: await notifyLimiter(env, noticeOf(key, after)),
  };
}

function describeLive([longest]: readonly BanRow[]): string {
  return longest
    ? `The key's live ban is ${longest.id}, until ${rfc3339(longest.endsAt)}.`
    : "The key has no live ban.";
}

type KnownBans = {
  /** The one that ends last first. */
  readonly live: readonly BanRow[];
  readonly lastStrikeBanId: string | undefined;
  /** False if the limiter cannot be reached: it may have a ban that it has not reported. */
  readonly isComplete: boolean;
};

/** All of them are in D1 afterwards: a ban that the limiter has not reported yet is reported for it. */
async function findKnownBans(
  env: Bindings,
  db: Database,
  key: NamedKeyRecord,
  atSeconds: number,
): Promise<KnownBans> {
  const snapshot = await inspectLimiter(env, key);
  if (snapshot?.strikeBan) await writeUsageReport(db, key.id, [], [snapshot.strikeBan]);
  return {
    live: await selectLiveBans(db, key.id, atSeconds),
    lastStrikeBanId: snapshot?.lastStrikeBanId ?? (await findLastStrikeBanId(db, key.id)),
    isComplete: snapshot !== undefined,
  };
}

async function notifyLimiter(env: Bindings, key: NamedKeyRecord): Promise<Effective> {
  return effective(await raiseMinVersion(env, key));
}

type Notice = { readonly version: number; readonly firstUsedAt: number | null };

/** Since the record was read, the key may have been changed and used. */
function noticeOf(key: NamedKeyRecord, [after]: readonly Notice[]): NamedKeyRecord {
  if (!after) throw new Error("the batch found no key"); // keys are never deleted
  return { ...key, version: after.version, isUsed: after.firstUsedAt !== null };
}

/** For the audit log. */
function banSummary({ id, cause, reason, endsAt }: BanRow) {
  return { ban: id, cause, reason, endsAt: rfc3339(endsAt) };
}
