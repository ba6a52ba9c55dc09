/**
 * The Durable Object behind one key: load, decide, save. It holds the only count there is of the key's requests.
 *
 * Every method without a `#` can be called from outside. A decision is synchronous from the first read to the write,
 * so no other request comes between; the platform holds the answer back until the write is durable.
 */
import { DurableObject } from "cloudflare:workers";
import type { Bindings } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { report } from "../db/usage-report-repository.ts";
import { logError } from "../log.ts";
import { type Ban, liveBan, recentStrikes } from "./core/ban.ts";
import type { BanOverride } from "./core/ban-override.ts";
import { applyBanOverrideOnce, type Call, decide, enterDay, type Verdict } from "./core/decide.ts";
import { type DailyUsage, type LimiterState, NEW_LIMITER, usageOfDay } from "./core/limiter-state.ts";
import { acknowledge, alarmDueAtMs, isForgettable, pendingReport } from "./core/outbox.ts";
import { type Counts, type Limits, type QuotaView, viewOf } from "./core/quota.ts";
import { IDLE_FLUSH_MS, type Reservation, reservationOf, reserve } from "./core/reservation.ts";
import { LimiterStorage } from "./limiter-storage.ts";

/** How often the mere number of refusals is worth a row: an eviction may forget a minute's worth of them. */
const SAVE_REFUSALS_EVERY_MS = 60_000;

/** An alarm this late never comes: the platform gives up on one that failed several times, which takes it minutes. */
const ALARM_LOST_AFTER_MS = 3_600_000;

/** After the history could not be told, requests leave it alone for this long. */
const REPORT_PAUSE_MS = 10_000;

/** What an operator sees of a limiter. Looking counts nothing and stores nothing. */
export type LimiterSnapshot = {
  readonly quota: QuotaView;
  readonly ban: Ban | null;
  readonly strikes: number;
  /** Days of which the history may not have the final figures, today's last. */
  readonly days: readonly DailyUsage[];
};

export class KeyLimiter extends DurableObject<Bindings> {
  readonly #storage: LimiterStorage;
  #state: LimiterState;
  #reservation: Reservation;
  #callCount = 0;
  #isIdleFlushScheduled = false;
  #noReportBeforeMs = 0;

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#storage = new LimiterStorage(ctx.storage.sql);
    this.#state = this.#storage.load();
    this.#reservation = reservationOf(this.#state.counts);
  }

  /** Decides one request, and counts it if admitted. */
  admit(call: Call): Verdict {
    const nowMs = Date.now();
    const { verdict, state } = decide(this.#state, this.#keyId, call, nowMs);
    this.#callCount++;
    if (verdict.kind === "stale") return verdict;
    if (verdict.kind === "admitted") this.#saveAhead(state, call.limits, nowMs);
    else this.#saveRefusal(state, nowMs);
    this.#reportIfDue(nowMs);
    return verdict;
  }

  /** From now on, copies of the key's record below this version are refused. */
  raiseMinVersion(version: number): void {
    if (version <= this.#state.minVersion) return;
    const nowMs = Date.now();
    this.#saveExactly({ ...this.#state, minVersion: version, seenAtMs: nowMs }, nowMs);
  }

  inspect(limits: Limits): LimiterSnapshot {
    const nowMs = Date.now();
    const state = enterDay(this.#state, nowMs);
    const today = usageOfDay(state);
    return {
      quota: viewOf(state.counts, limits),
      ban: liveBan(state.penalty, nowMs),
      strikes: recentStrikes(state.penalty, nowMs).length,
      days: today ? [...state.finishedDays, today] : state.finishedDays,
    };
  }

  /** Bans, or lifts the live ban. Returns the live ban that thereby ended, if there was one. */
  applyBanOverride(override: BanOverride): Ban | null {
    const nowMs = Date.now();
    const before = liveBan(this.#state.penalty, nowMs);
    this.#saveExactly({ ...applyBanOverrideOnce(this.#state, override, nowMs), seenAtMs: nowMs }, nowMs);
    return before && liveBan(this.#state.penalty, nowMs)?.id !== before.id ? before : null;
  }

  /** Tells the history what it has not heard, and forgets everything once there is nothing left to remember. */
  override async alarm(): Promise<void> {
    this.#state = { ...enterDay(this.#state, Date.now()), alarmAtMs: null };
    await this.#report();
    const nowMs = Date.now();
    if (isForgettable(this.#state, nowMs)) await this.#forget();
    else this.#saveExactly(this.#state, nowMs);
  }

  get #keyId(): string {
    // The Worker addresses limiters by the key's id, so that the name is always there.
    return this.ctx.id.name ?? this.ctx.id.toString();
  }

  #saveAhead(state: LimiterState, limits: Limits, nowMs: number): void {
    const paid = reserve(this.#reservation, state.counts, limits, nowMs);
    const isNews =
      state.minVersion !== this.#state.minVersion || state.banOverrideAtMs !== this.#state.banOverrideAtMs;
    if (isNews || paid.saved !== this.#reservation.saved) this.#save(state, paid.saved, nowMs);
    else this.#state = state;
    this.#reservation = paid;
    if (paid.saved.minute.used > state.counts.minute.used) this.#scheduleIdleFlush();
  }

  /** A ban at once; what led to it, a new version and a minute's worth of refusals in the next quiet second. */
  #saveRefusal(state: LimiterState, nowMs: number): void {
    const before = this.#state;
    if (state.penalty.ban !== before.penalty.ban) {
      this.#saveExactly(state, nowMs);
      return;
    }
    this.#state = state;
    const isNewVersion = state.minVersion !== before.minVersion;
    if (isNewVersion || isSaveOverdue(state, nowMs) || state.penalty !== before.penalty)
      this.#scheduleIdleFlush();
  }

  #saveExactly(state: LimiterState, nowMs: number): void {
    this.#save(state, state.counts, nowMs);
  }

  /**
   * Stores the state with `counts`, together with the alarm that looks after it. A state that cannot be stored is not
   * taken over: the caller answers 503, and what it was about must not have happened.
   */
  #save(state: LimiterState, counts: Counts, nowMs: number): void {
    const dueAtMs = alarmDueAtMs(state, this.#keyId, nowMs);
    const isAlarmInTime =
      state.alarmAtMs !== null && nowMs - state.alarmAtMs < ALARM_LOST_AFTER_MS && state.alarmAtMs <= dueAtMs;
    const saved = { ...state, alarmAtMs: isAlarmInTime ? state.alarmAtMs : dueAtMs, savedAtMs: nowMs };
    this.#storage.save({ ...saved, counts });
    if (!isAlarmInTime) this.ctx.waitUntil(this.ctx.storage.setAlarm(dueAtMs));
    this.#state = saved;
    this.#reservation = { ...this.#reservation, saved: counts };
  }

  /**
   * Saves the exact counts once no call has come for a second, or once they are overdue although calls never cease; the
   * timer keeps the object in memory until then.
   */
  #scheduleIdleFlush(): void {
    if (this.#isIdleFlushScheduled) return;
    this.#isIdleFlushScheduled = true;
    const callsBefore = this.#callCount;
    setTimeout(() => {
      this.#isIdleFlushScheduled = false;
      const nowMs = Date.now();
      const isQuiet = this.#callCount === callsBefore;
      if (isQuiet || isSaveOverdue(this.#state, nowMs)) this.#saveExactly(this.#state, nowMs);
      else this.#scheduleIdleFlush();
    }, IDLE_FLUSH_MS);
  }

  #reportIfDue(nowMs: number): void {
    if (nowMs < this.#noReportBeforeMs || !pendingReport(this.#state)) return;
    this.#noReportBeforeMs = nowMs + REPORT_PAUSE_MS;
    this.ctx.waitUntil(this.#reportAndSave());
  }

  /** Saved at once, or a key that is evicted after each request would report after each; until nothing new came up. */
  async #reportAndSave(): Promise<void> {
    while (await this.#report()) this.#saveExactly(this.#state, Date.now());
  }

  /** Whether it told something. What could not be told stays to be told; telling twice does no harm. */
  async #report(): Promise<boolean> {
    const told = pendingReport(this.#state);
    if (!told) return false;
    try {
      await report(openDatabase(this.env.DB), this.#keyId, told.days, told.bans);
      this.#state = acknowledge(this.#state, told);
      this.#noReportBeforeMs = 0;
      return true;
    } catch (thrown) {
      logError("usage_report_failed", thrown, { keyId: this.#keyId });
      return false;
    }
  }

  async #forget(): Promise<void> {
    const deleted = this.ctx.storage.deleteAll();
    this.#storage.forget();
    this.#state = NEW_LIMITER;
    this.#reservation = reservationOf(NEW_LIMITER.counts);
    await deleted;
  }
}

function isSaveOverdue(state: LimiterState, nowMs: number): boolean {
  return nowMs - state.savedAtMs >= SAVE_REFUSALS_EVERY_MS;
}
