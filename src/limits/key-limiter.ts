/**
 * The Durable Object behind one key: load, decide, save. It holds the only count there is of the key's requests.
 *
 * Every method without a `#` can be called from outside. A decision is synchronous from the first read to the write,
 * so no other request comes between; the platform holds the answer back until the write is durable.
 */
import { DurableObject } from "cloudflare:workers";
import { openDatabase } from "../db/database.ts";
import type { Bindings } from "../env.ts";
import { logError } from "../log.ts";
import { type Ban, lift, liveBan } from "./ban.ts";
import { type Call, decide, enterDay, type Verdict } from "./decide.ts";
import { alarmDueAtMs, isForgettable, reportDue, withoutReported } from "./housekeeping.ts";
import { report } from "./limit-history-store.ts";
import { type DayUse, type LimiterState, NEW_LIMITER, useOfDay } from "./limiter-state.ts";
import { LimiterStorage } from "./limiter-storage.ts";
import { type Counts, type Limits, type QuotaView, viewOf } from "./quota.ts";
import { type Burst, covers, NO_BURST, nextBlockSize, QUIET_MS, reserve } from "./reservation.ts";

/** How often refusals alone are worth a row: what an eviction may forget of their number is a minute's worth. */
const SAVE_REFUSALS_EVERY_MS = 60_000;

/** After the history could not be told, requests leave it alone for this long. */
const REPORT_PAUSE_MS = 10_000;

/** What an operator sees of a limiter. Looking counts nothing and stores nothing. */
export type Look = {
  readonly quota: QuotaView;
  readonly ban: Ban | null;
  readonly strikes: number;
  /** Days of which the history may not have the final figures, today's last. */
  readonly days: readonly DayUse[];
};

export class KeyLimiter extends DurableObject<Bindings> {
  readonly #storage: LimiterStorage;
  #state: LimiterState;
  /** What storage says was used: never less than the truth. */
  #saved: Counts;
  #savedAtMs = 0;
  #burst: Burst = NO_BURST;
  #callCount = 0;
  #isSaveAwaitingQuiet = false;
  #noReportBeforeMs = 0;

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#storage = new LimiterStorage(ctx.storage.sql);
    this.#state = this.#storage.load();
    this.#saved = this.#state.counts;
  }

  /** Decides one request, and counts it if admitted. */
  admit(call: Call): Verdict {
    const nowMs = Date.now();
    const before = this.#state;
    const { verdict, state } = decide(before, this.#keyId, call, nowMs);
    this.#state = state;
    this.#callCount++;

    if (verdict.kind === "stale") return verdict;
    if (verdict.kind === "admitted") this.#saveAhead(call.limits, nowMs);
    else if (state.conduct.ban !== before.conduct.ban) this.#saveExactly(nowMs);
    else if (this.#isWorthSaving(before, nowMs)) this.#saveWhenQuiet();
    this.#reportIfDue(nowMs);
    return verdict;
  }

  /** From now on, copies of the key's record below this version are refused. */
  requireVersion(version: number): void {
    if (version <= this.#state.minVersion) return;
    const nowMs = Date.now();
    this.#state = { ...this.#state, minVersion: version, seenAtMs: nowMs };
    this.#saveExactly(nowMs);
  }

  look(limits: Limits): Look {
    const nowMs = Date.now();
    const state = enterDay(this.#state, nowMs);
    const today = useOfDay(state);
    return {
      quota: viewOf(state.counts, limits),
      ban: liveBan(state.conduct, nowMs),
      strikes: state.conduct.strikesAtMs.length,
      days: today ? [...state.finishedDays, today] : state.finishedDays,
    };
  }

  /** Bans the key by hand; the new ban takes the place of a live one. */
  ban(ban: Ban): void {
    const nowMs = Date.now();
    this.#state = { ...this.#state, conduct: { ...this.#state.conduct, ban }, seenAtMs: nowMs };
    this.#saveExactly(nowMs);
  }

  /** Ends the live ban, if there is one, and tells which it was. */
  liftBan(forgive: boolean): Ban | null {
    const nowMs = Date.now();
    const live = liveBan(this.#state.conduct, nowMs);
    if (live || forgive) {
      this.#state = { ...this.#state, conduct: lift(this.#state.conduct, forgive, nowMs), seenAtMs: nowMs };
      this.#saveExactly(nowMs);
    }
    return live;
  }

  /** Tells the history what it has not heard, and forgets everything once there is nothing left to remember. */
  override async alarm(): Promise<void> {
    this.#state = { ...enterDay(this.#state, Date.now()), alarmAtMs: null };
    await this.#report();
    const nowMs = Date.now();
    if (isForgettable(this.#state, nowMs)) await this.#forget();
    else this.#saveExactly(nowMs);
  }

  get #keyId(): string {
    // The Worker addresses limiters by the key's id, so that the name is always there.
    return this.ctx.id.name ?? this.ctx.id.toString();
  }

  #saveAhead(limits: Limits, nowMs: number): void {
    const used = this.#state.counts;
    let { blockSize } = this.#burst;
    if (!covers(this.#saved, used)) {
      blockSize = nextBlockSize(this.#burst, used, limits, nowMs);
      this.#save(reserve(used, blockSize), nowMs);
    }
    this.#burst = { blockSize, lastAdmittedAtMs: nowMs };
    if (this.#saved.minute.used > used.minute.used) this.#saveWhenQuiet();
  }

  #saveExactly(nowMs: number): void {
    this.#save(this.#state.counts, nowMs);
  }

  /** Goes into the same transaction as the alarm it may need: whatever is stored will be looked after. */
  #save(counts: Counts, nowMs: number): void {
    const dueAtMs = alarmDueAtMs(this.#state, this.#keyId, nowMs);
    if (this.#state.alarmAtMs === null || this.#state.alarmAtMs > dueAtMs) {
      this.#state = { ...this.#state, alarmAtMs: dueAtMs };
      this.ctx.waitUntil(this.ctx.storage.setAlarm(dueAtMs));
    }
    this.#storage.save({ ...this.#state, counts });
    this.#saved = counts;
    this.#savedAtMs = nowMs;
  }

  #isWorthSaving(before: LimiterState, nowMs: number): boolean {
    const isStrike = this.#state.conduct.strikesAtMs !== before.conduct.strikesAtMs;
    return isStrike || nowMs - this.#savedAtMs >= SAVE_REFUSALS_EVERY_MS;
  }

  /** Saves the exact counts once no call has come for a second; the timer keeps the object in memory until then. */
  #saveWhenQuiet(): void {
    if (this.#isSaveAwaitingQuiet) return;
    this.#isSaveAwaitingQuiet = true;
    const callsBefore = this.#callCount;
    setTimeout(() => {
      this.#isSaveAwaitingQuiet = false;
      if (this.#callCount === callsBefore) this.#saveExactly(Date.now());
      else this.#saveWhenQuiet();
    }, QUIET_MS);
  }

  #reportIfDue(nowMs: number): void {
    if (nowMs < this.#noReportBeforeMs || !reportDue(this.#state)) return;
    this.#noReportBeforeMs = nowMs + REPORT_PAUSE_MS;
    this.ctx.waitUntil(this.#report());
  }

  /** Never throws: what could not be told stays to be told. Telling twice does no harm. */
  async #report(): Promise<void> {
    const told = reportDue(this.#state);
    if (!told) return;
    try {
      await report(openDatabase(this.env.DB), this.#keyId, told.days, told.bans);
      this.#state = withoutReported(this.#state, told);
      this.#noReportBeforeMs = 0;
    } catch (thrown) {
      logError("limit_history_not_told", thrown, { keyId: this.#keyId });
    }
  }

  async #forget(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#storage.forget();
    this.#state = NEW_LIMITER;
    this.#saved = NEW_LIMITER.counts;
  }
}
