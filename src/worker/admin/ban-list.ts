/** Pages of bans: those that D1 has, and those that only the limiters have because reporting them failed. */
import type { Bindings } from "../context.ts";
import {
  type BanFilter,
  type BanPosition,
  banOrder,
  comparePositions,
  listBans,
  type NamedBan,
  positionOf,
} from "../db/ban-list-repository.ts";
import { type BanView, toBanRow, toBanView } from "../db/ban-repository.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { findKeyRecordById, type NamedKeyRecord } from "../db/key-record-repository.ts";
import type { Ban } from "../limiter/core/ban.ts";
import type { LimiterSnapshot } from "../limiter/core/snapshot.ts";
import { inspectCandidates, listKeysToInspect } from "./live-usage.ts";

export type BanPage = {
  readonly bans: readonly BanView[];
  /** Where to go on; null on the last page. */
  readonly next: BanPosition | null;
  /** Whether no ban is missing that only its limiter has. Of past bans of all keys, those that D1 has are all. */
  readonly complete: boolean;
};

/** A ban that only its limiter has is on the page where it belongs: it has the same place once it is in D1. */
export async function findBans(env: Bindings, filter: BanFilter, nowSeconds: number): Promise<BanPage> {
  const db = openDatabase(env.DB);
  const candidates = await keysToInspect(db, filter, nowSeconds);
  const { inspected, areAll } = await inspectCandidates(env, candidates);
  const place = ({ ban }: NamedBan) => positionOf(banOrder(filter), ban);
  const inLimiters = inspected.flatMap(({ key, snapshot }) =>
    bansOf(snapshot, filter).map((ban) => ({ ban: toBanRow(key.id, ban), keyName: key.name })),
  );
  // One that D1 has is on its own page, or was lifted after its limiter was inspected.
  const { page: known, stored } = await listBans(
    db,
    filter,
    nowSeconds,
    inLimiters.map(({ ban }) => ban.id),
  );
  const unreported = inLimiters.filter(
    (each) => !stored.has(each.ban.id) && (!filter.after || comparePositions(filter.after, place(each)) < 0),
  );
  const bans = [...known, ...unreported].sort((a, b) => comparePositions(place(a), place(b)));
  const shown = bans.slice(0, filter.limit);
  const last = bans.length < filter.limit ? undefined : shown.at(-1);
  return {
    bans: shown.map(({ ban, keyName }) => toBanView(ban, keyName, nowSeconds)),
    next: last ? place(last) : null,
    complete: areAll,
  };
}

/** Bans for strikes that the limiter may not have reported. */
function bansOf({ strikeBan, endedBans }: LimiterSnapshot, { state }: BanFilter): readonly Ban[] {
  const live = strikeBan ? [strikeBan] : [];
  return { live, past: endedBans, all: [...live, ...endedBans] }[state];
}

/** Those whose limiters can have a ban for strikes that matches. */
async function keysToInspect(
  db: Database,
  filter: BanFilter,
  nowSeconds: number,
): Promise<readonly NamedKeyRecord[]> {
  const { state, key: only } = filter;
  if (only === undefined) {
    // Past bans of all keys are many, and hardly one of them is not reported.
    return state === "past" ? [] : listKeysToInspect(db, nowSeconds * 1000);
  }
  const key = await findKeyRecordById(db, only);
  return key ? [key] : [];
}
