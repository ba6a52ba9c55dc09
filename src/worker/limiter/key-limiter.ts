/**
 * The Durable Object that limits one key: load, decide, save. It has the only count of the key's requests.
 *
 * Every method without a `#` is an RPC method. A decision is synchronous from the first read to the write, so no other
 * request comes between. The output gate holds the response back until the write is durable.
 */
import { DurableObject } from "cloudflare:workers";
import type { Bindings } from "../context.ts";
import { logEvent } from "../log.ts";
import { alarmDueAtMs, isDeletable } from "./core/alarm.ts";
import { type Bookmark, laterBookmark } from "./core/bookmark.ts";
import { type Call, decide, enterDay, type KeyPolicy, type Verdict } from "./core/decide.ts";
import { type LimiterState, NEW_LIMITER } from "./core/limiter-state.ts";
import { acknowledge, pendingReport } from "./core/outbox.ts";
import { type Counts, NOTHING_COUNTED } from "./core/quota.ts";
import {
  areSameCounts,
  IDLE_FLUSH_MS,
  type Reservation,
  reservationOf,
  reserve,
} from "./core/reservation.ts";
import { type LimiterSnapshot, snapshotOf } from "./core/snapshot.ts";
import { LimiterStorage } from "./limiter-storage.ts";
import { UsageWriter } from "./usage-writer.ts";

/** An alarm that is this late was lost: the platform drops an alarm that failed six times, within minutes. */
const ALARM_LOST_AFTER_MS = 3_600_000;

export class KeyLimiter extends DurableObject<Bindings> {
  readonly #storage: LimiterStorage;
  readonly #usageWriter: UsageWriter;
  #state: LimiterState;
  /** As it is stored: with the counts that are reserved. */
  #stored: LimiterState;
  #reservation: Reservation;
  #callCount = 0;
  #idleFlush: ReturnType<typeof setTimeout> | null = null;
  #isReporting = false;

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#storage = new LimiterStorage(ctx.storage);
    this.#usageWriter = new UsageWriter(env);
    this.#stored = this.#storage.load();
    this.#state = this.#stored;
    this.#reservation = reservationOf(this.#state.counts);
  }

  /** Decides one request, and counts it if admitted. */
  admit(call: Call): Verdict {
    const nowMs = Date.now();
    const { verdict, state } = decide(this.#state, call, nowMs);
    this.#callCount++;
    if (verdict.kind === "stale") return verdict;
    if (verdict.kind === "admitted") this.#saveReserving(state, call, nowMs);
    else this.#saveRefusal(state, nowMs);
    this.#reportIfDue(nowMs);
    return verdict;
  }

  /** From now on, records below this version are stale. */
  raiseMinVersion(keyId: string, version: number): void {
    if (version <= this.#state.minVersion) return;
    this.#saveExactly({ ...this.#state, keyId, minVersion: version }, Date.now());
  }

  /** The key has seen this state of D1. It is stored before the response that shows it is sent. */
  raiseBookmark(keyId: string, seen: Bookmark): void {
    const bookmark = laterBookmark(this.#state.bookmark, seen);
    if (bookmark === this.#state.bookmark) return;
    const { counts } = this.#state;
    const { stored } = this.#reservation;
    // Refusals may have rolled the windows since the last write.
    const isCurrent = stored.minute.startMs === counts.minute.startMs;
    this.#save({ ...this.#state, keyId, bookmark }, isCurrent ? stored : counts, Date.now());
  }

  /** Counts nothing and stores nothing. */
  inspect(policy: KeyPolicy): LimiterSnapshot {
    return snapshotOf(this.#state, policy, Date.now());
  }

  /** Reports what is pending, and deletes the storage once it is no longer needed. */
  override async alarm(): Promise<void> {
    const callsBefore = this.#hasUnsaved() ? undefined : this.#callCount;
    this.#state = { ...enterDay(this.#state, Date.now()), alarmAtMs: null };
    await this.#report();
    const nowMs = Date.now();
    const wasCalled = this.#callCount !== callsBefore;
    if (!wasCalled && isDeletable(this.#state, nowMs)) await this.#delete();
    // This clock may be some ms behind the one that starts alarms. A save without a call must not begin another day.
    else this.#saveExactly(this.#state, nowMs, wasCalled ? nowMs : this.#state.savedAtMs);
  }

  #saveReserving(state: LimiterState, call: Call, nowMs: number): void {
    const reservation = reserve(this.#reservation, state.counts, call.limits, nowMs);
    const isCovered = reservation.stored === this.#reservation.stored;
    if (isCovered && differsInCountsOnly(state, this.#state)) this.#state = state;
    else this.#save(state, reservation.stored, nowMs);
    this.#reservation = reservation;
    if (!areSameCounts(reservation.stored, state.counts)) this.#scheduleIdleFlush();
    else if (!this.#hasUnsaved()) this.#cancelIdleFlush();
  }

  /**
   * A ban at once, and a new version: `raiseMinVersion` takes one that is known to be stored. Strikes and the number of refusals
   * with the next idle flush.
   */
  #saveRefusal(state: LimiterState, nowMs: number): void {
    const before = this.#state;
    const begun = state.unreportedBans.length > before.unreportedBans.length && state.unreportedBans.at(-1);
    if (state.penalty.lastBan !== before.penalty.lastBan || state.minVersion !== before.minVersion) {
      this.#saveExactly(state, nowMs);
      if (begun) logEvent("ban_started", { keyId: state.keyId, ban: begun.id, strikes: begun.strikes });
      return;
    }
    this.#state = state;
    this.#scheduleIdleFlush();
  }

  #saveExactly(state: LimiterState, nowMs: number, savedAtMs = nowMs): void {
    this.#save(state, state.counts, nowMs, savedAtMs);
  }

  /**
   * Stores the state with `counts`, and sets the alarm. A state that cannot be stored is not adopted: the caller
   * answers 503, and the request must not have been counted.
   */
  #save(state: LimiterState, counts: Counts, nowMs: number, savedAtMs = nowMs): void {
    const saved = { ...state, savedAtMs };
    const dueAtMs = alarmDueAtMs(saved, nowMs);
    const isAlarmInTime =
      state.alarmAtMs !== null && nowMs - state.alarmAtMs < ALARM_LOST_AFTER_MS && state.alarmAtMs <= dueAtMs;
    if (!isAlarmInTime) saved.alarmAtMs = dueAtMs;
    const stored = { ...saved, counts };
    this.#storage.save(stored);
    if (!isAlarmInTime) this.ctx.waitUntil(this.ctx.storage.setAlarm(dueAtMs));
    this.#stored = stored;
    this.#state = saved;
    this.#reservation = { ...this.#reservation, stored: counts };
  }

  /** Stores the exact counts once no call has come for a second. The timer keeps the object in memory until then (ADR-9). */
  #scheduleIdleFlush(): void {
    if (this.#idleFlush !== null) return;
    const callsBefore = this.#callCount;
    this.#idleFlush = setTimeout(() => {
      this.#idleFlush = null;
      if (this.#callCount !== callsBefore) this.#scheduleIdleFlush();
      else if (this.#hasUnsaved()) this.#saveExactly(this.#state, Date.now());
    }, IDLE_FLUSH_MS);
  }

  /** A pending timer would keep the object in memory for nothing. */
  #cancelIdleFlush(): void {
    if (this.#idleFlush !== null) clearTimeout(this.#idleFlush);
    this.#idleFlush = null;
  }

  /** Whether an idle flush would change what is stored. */
  #hasUnsaved(): boolean {
    const { counts, penalty, refused, refusedWhileBanned } = this.#state;
    const stored = this.#stored;
    return !(
      areSameCounts(counts, stored.counts) &&
      penalty === stored.penalty &&
      refused === stored.refused &&
      refusedWhileBanned === stored.refusedWhileBanned
    );
  }

  /** Forgets first, so that a request which comes during the deletion is counted from zero, and stays counted. */
  async #delete(): Promise<void> {
    this.#state = NEW_LIMITER;
    this.#stored = NEW_LIMITER;
    this.#reservation = reservationOf(NOTHING_COUNTED);
    await this.#storage.deleteAll();
  }

  #reportIfDue(nowMs: number): void {
    if (this.#isReporting || this.#usageWriter.isPaused(nowMs) || !pendingReport(this.#state, nowMs)) return;
    this.#isReporting = true;
    this.ctx.waitUntil(this.#reportAndSave());
  }

  /** Saves each acknowledgement, or a key that is evicted after each request would report with each. */
  async #reportAndSave(): Promise<void> {
    try {
      while (await this.#report()) this.#saveExactly(this.#state, Date.now());
    } finally {
      this.#isReporting = false;
    }
  }

  /** Whether D1 took a report. */
  async #report(): Promise<boolean> {
    const report = pendingReport(this.#state, Date.now());
    if (!report || !(await this.#usageWriter.write(this.#state.keyId, report))) return false;
    this.#state = acknowledge(this.#state, report);
    return true;
  }
}

/** Whether only counts and numbers of refusals differ, which may be stored late. */
function differsInCountsOnly(state: LimiterState, before: LimiterState): boolean {
  return (
    state.minVersion === before.minVersion &&
    state.penalty === before.penalty &&
    state.bookmark === before.bookmark
  );
}
