/** Bans keys and lifts bans. Each change and its audit row are one batch. */
import type { Bindings } from "../../context.ts";
import { openDatabase, transact } from "../../db/database.ts";
import { unavailable } from "../../errors.ts";
import { logEvent } from "../../log.ts";
import { rfc3339 } from "../../time.ts";
import { banLifted, banSet } from "../alerts/alert.ts";
import { deliverSoon } from "../alerts/deliver.ts";
import { alertStatements } from "../alerts/service.ts";
import { type Audited, type Author, audit, type Change, isAudited } from "../audit/sql.ts";
import { onlyKey, requireKey, tellLimiter } from "../keys/service.ts";
import { type KeyRow, keyExists, selectKey } from "../keys/sql.ts";
import { requireVersion } from "../precondition.ts";
import type { Effective } from "../tell-limiters.ts";
import { reportNow } from "../usage/service.ts";
import { type BanFilter, type BanPosition, banOrder, listBans, positionOf } from "./list-sql.ts";
import type { BanView } from "./schema.ts";
import {
  type BanRow,
  insertBan,
  isLiftable,
  markLiveBansLifted,
  selectLiveBanSummary,
  setBan,
  toBanView,
} from "./sql.ts";

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
  /** Of the key, after the change. */
  readonly version: number;
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
  expectedVersion?: number,
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
  const isMade = isAudited(author, change);
  const [[audited], , replaced, , rows] = await transact<[Audited, never, BanRow, never, KeyRow, ...never[]]>(
    db,
    [
      audit(db, author, change, keyExists(keyId, expectedVersion)),
      setBan(keyId, ban, author.at, isMade),
      markLiveBansLifted(keyId, { at: author.at, by: author.actor }, isMade),
      insertBan(ban, isMade),
      selectKey(keyId, author.at),
      ...alertStatements(env, keyId, banSet({ ...ban, reason }, author.actor), isMade),
    ],
  );
  const banned = onlyKey(rows);
  if (!audited) requireVersion(banned, expectedVersion);
  deliverSoon(env);
  logEvent("ban_set", { requestId: author.requestId, keyId, ban: ban.id });
  const { effective, version } = await tellLimiter(env, banned, isReported);
  return {
    version,
    ban: toBanView(ban, key.name, author.at),
    replaced: replaced.map((row) => toBanView(row, key.name, author.at)),
    effective,
  };
}

export type BanLifted = {
  /** Of the key, after the change. */
  readonly version: number;
  /** The ban that would have ended last; null if no ban was live. */
  readonly lifted: BanView | null;
  readonly effective: Effective;
};

/** Ends the key's live bans and pardons the last one for strikes: the next one does not double it. */
export async function liftBan(
  env: Bindings,
  keyId: string,
  author: Author,
  expectedVersion?: number,
): Promise<BanLifted> {
  const db = openDatabase(env.DB);
  const key = await requireKey(db, keyId);
  const isReported = await reportNow(env, key);
  const change: Change = {
    call: "bans.lift",
    object: keyId,
    before: selectLiveBanSummary(keyId, author.at),
  };
  const isMade = isAudited(author, change);
  const [[audited], , lifted, rows] = await transact<[Audited, never, BanRow, KeyRow, ...never[]]>(db, [
    audit(db, author, change, isLiftable(keyId, author.at, expectedVersion)),
    setBan(keyId, null, author.at, isMade),
    markLiveBansLifted(keyId, { at: author.at, by: author.actor }, isMade),
    selectKey(keyId, author.at),
    ...alertStatements(env, keyId, banLifted(author), isMade),
  ]);
  const after = onlyKey(rows);
  if (!audited) requireVersion(after, expectedVersion);
  if (lifted.length === 0 && !isReported) throw unavailable(NOT_REPORTED, undefined);
  if (lifted.length > 0) {
    deliverSoon(env);
    logEvent("ban_lifted", { requestId: author.requestId, keyId, bans: lifted.length });
  }
  const [longest] = lifted.toSorted((a, b) => b.endsAt - a.endsAt);
  // Also if nothing was changed: an earlier lift may not have reached the limiter.
  const { effective, version } = await tellLimiter(env, after, isReported);
  return { version, lifted: longest ? toBanView(longest, key.name, author.at) : null, effective };
}
