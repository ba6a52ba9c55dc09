/**
 * The limiter in its simplest form: lists of times, searched again for each request. It shares no code and no constants
 * with the real one, and has no stored windows, reservations or versions.
 */
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";

const minuteOf = (ms: number) => Math.floor(ms / 60_000);
const dayOf = (ms: number) => Math.floor(ms / 86_400_000);

type NaiveBan = { id: string; length: number; end: number };

export type NaiveOverride = {
  operatorBan: { endsAtMs: number } | null;
  liftedBanId: string | null;
  forgivenBanId: string | null;
};

export class NaiveLimiter {
  /** The time of each admitted request. A clock that ran backwards counts as the newest time so far. */
  readonly admittedAt: number[] = [];
  readonly refusedAt: number[] = [];
  /** The exhausted window, named by its end; when it first refused, and its strikes. */
  #window = { end: -1, firstRefusal: 0, strikes: [] as number[] };
  #ban: NaiveBan | null = null;
  #newest = 0;

  request(limits: Limits, now: number, override: NaiveOverride): "admitted" | "limited" | "banned" {
    this.#newest = Math.max(this.#newest, now);
    this.#applyOverride(override, now);
    if (now < this.banEnd || now < (override.operatorBan?.endsAtMs ?? 0)) return "banned";
    const { minute, day } = this.used();
    if (minute < limits.perMinute && day < limits.perDay) {
      this.admittedAt.push(this.#newest);
      return "admitted";
    }
    this.refusedAt.push(now);
    const end =
      day >= limits.perDay ? (dayOf(this.#newest) + 1) * 86_400_000 : (minuteOf(this.#newest) + 1) * 60_000;
    if (end !== this.#window.end) this.#window = { end, firstRefusal: now, strikes: [] };
    else if (now - this.#window.firstRefusal >= 1_000) this.#strike(limits, now);
    return now < this.banEnd ? "banned" : "limited";
  }

  used(): { minute: number; day: number } {
    const newest = this.#newest;
    return {
      minute: this.admittedAt.filter((at) => minuteOf(at) === minuteOf(newest)).length,
      day: this.admittedAt.filter((at) => dayOf(at) === dayOf(newest)).length,
    };
  }

  get banEnd(): number {
    return this.#ban?.end ?? 0;
  }

  #applyOverride({ liftedBanId, forgivenBanId }: NaiveOverride, now: number): void {
    if (this.#ban && this.#ban.id === liftedBanId && now < this.#ban.end) {
      this.#ban.end = now;
      this.#window = { end: -1, firstRefusal: 0, strikes: [] };
    }
    if (this.#ban && this.#ban.id === forgivenBanId && now >= this.#ban.end) this.#ban = null;
  }

  #strike(limits: Limits, now: number): void {
    const counted = this.#window.strikes.filter((at) => minuteOf(at) > minuteOf(now) - 10);
    this.#window.strikes = [...counted, now];
    if (this.#window.strikes.length < 20 || this.#window.strikes.length < Math.floor(limits.perMinute / 3))
      return;
    this.#window = { end: -1, firstRefusal: 0, strikes: [] };
    const last = this.#ban;
    const isSoon = last !== null && now < last.end + 86_400_000;
    const length = isSoon ? Math.min(last.length * 2, 86_400_000) : 300_000;
    this.#ban = {
      id: `ban_key_simulated_${now}`,
      length,
      end: Math.ceil((now + length) / 1_000) * 1_000,
    };
  }
}
