/** Bans keys and lifts bans. Each change and its audit row are one batch. */
import type { Bindings } from "../context.ts";
import { type Author, audit, type Change } from "../db/audit-repository.ts";
import {
  type BanFilter,
  type BanPosition,
  banOrder,
  listBans,
  positionOf,
} from "../db/ban-list-repository.ts";
import {
  type BanRow,
  type BanView,
  insertBan,
  isAnyLive,
  markLiveBansLifted,
  selectLiveBanSummary,
  setBan,
  toBanView,
} from "../db/ban-repository.ts";
import { openDatabase, transact } from "../db/database.ts";
import { type KeyRow, selectKey } from "../db/key-repository.ts";
import { unavailable } from "../errors.ts";
import { logEvent } from "../log.ts";
import { rfc3339 } from "../time.ts";
import type { Effective } from "./effective.ts";
import { notifyLimiter, onlyKey, requireKey } from "./key-service.ts";
import { reportNow } from "./usage-service.ts";

const NOT_REPORTED = "The limiter could not report its bans, so nothing was changed. Please try again.";

export type BanPage = {
  readonly bans: readonly BanView[];
  /** Where to go on; null on the last page. */
  readonly next: BanPosition | null;
};

/** A ban for strikes is reported at once, so D1 has all but those whose report failed a moment ago. */
export async function findBans(env: Bindings, filter: BanFilter, nowSeconds: number): Promise<BanPage> {
  const page = await listBans(openDatabase(env.DB), filter, nowSeconds);
  const last = page.length < filter.limit ? undefined : page.at(-1);
  return {
    bans: page.map(({ ban, keyName }) => toBanView(ban, keyName, nowSeconds)),
    next: last ? positionOf(banOrder(filter), last.ban) : null,
  };
}

export type BanSet = {
  readonly ban: BanView;
  readonly replaced: readonly BanView[];
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
  const key = await requireKey(db, keyId);
  const isReported = await reportNow(env, key);
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
    after: { ban: ban.id, cause: ban.cause, reason, endsAt: rfc3339(ban.endsAt) },
  };
  const [, , replaced, , rows] = await transact<[never, never, BanRow, never, KeyRow]>(db, [
    audit(db, author, change),
    setBan(keyId, ban, author.at),
    markLiveBansLifted(keyId, { at: author.at, by: author.actor }),
    insertBan(db, ban),
    selectKey(keyId, author.at),
  ]);
  logEvent("ban_set", { requestId: author.requestId, keyId, ban: ban.id });
  const { effective } = await notifyLimiter(env, onlyKey(rows), isReported);
  return {
    ban: toBanView(ban, key.name, author.at),
    replaced: replaced.map((row) => toBanView(row, key.name, author.at)),
    effective,
  };
}

export type BanLifted = {
  /** The ban that would have ended last; null if no ban was live. */
  readonly lifted: BanView | null;
  readonly effective: Effective;
};

/** Ends the key's live bans and pardons the last one for strikes: the next one does not double it. */
export async function liftBan(env: Bindings, keyId: string, author: Author): Promise<BanLifted> {
  const db = openDatabase(env.DB);
  const key = await requireKey(db, keyId);
  const isReported = await reportNow(env, key);
  const change: Change = {
    call: "bans.lift",
    object: keyId,
    before: selectLiveBanSummary(keyId, author.at),
  };
  const isBanned = isAnyLive(keyId, author.at);
  const [, , lifted, rows] = await transact<[never, never, BanRow, KeyRow]>(db, [
    audit(db, author, change, isBanned),
    setBan(keyId, null, author.at, isBanned),
    markLiveBansLifted(keyId, { at: author.at, by: author.actor }),
    selectKey(keyId, author.at),
  ]);
  if (lifted.length === 0 && !isReported) throw unavailable(NOT_REPORTED, undefined);
  if (lifted.length > 0) logEvent("ban_lifted", { requestId: author.requestId, keyId, bans: lifted.length });
  const [longest] = lifted.toSorted((a, b) => b.endsAt - a.endsAt);
  // Also if nothing was changed: an earlier lift may not have reached the limiter.
  const { effective } = await notifyLimiter(env, onlyKey(rows), isReported);
  return { lifted: longest ? toBanView(longest, key.name, author.at) : null, effective };
}
