/**
 * The limiter in its simplest form: lists of all that was admitted, searched again for each request. It
 * shares no code and no constants with the real one, and has no stored windows and no reservations.
 */
import type { BanRule, Limit, Policy, WindowLength } from "../../index.ts";

type Kind = "admitted" | "limited" | "banned" | "too_costly";
type Counted = { seconds: WindowLength; window: number; cost: number; settleId: string | undefined };

export class NaiveLimiter {
  /** Which window of a length each admitted request was counted in. */
  #admitted: Counted[] = [];
  /** The exhausted window, named by its end; when it first refused, and the seconds that are strikes. */
  #refused = { end: -1, first: 0, strikes: [] as number[] };
  ban: { id: string; length: number; end: number } | null = null;

  request(
    policy: Policy,
    { cost, now, settleId }: { cost: number; now: number; settleId?: string | undefined },
  ): Kind {
    if (this.ban && this.ban.id === policy.pardonedBan) {
      this.ban = null;
      this.#refused = { end: -1, first: 0, strikes: [] };
    }
    if (now < (this.ban?.end ?? 0) || now < (policy.blocked?.endsAtMs ?? 0)) return "banned";
    const full = policy.limits.filter((limit) => this.used(limit, now) + cost > limit.requests);
    if (full.length === 0) {
      this.#admit(policy.limits, { cost, settleId }, now);
      return "admitted";
    }
    if (policy.limits.some(({ requests }) => cost > requests)) return "too_costly";
    if (policy.bans) {
      const end = Math.max(...full.map(({ seconds }) => endOf(seconds, this.#window(seconds, now))));
      if (end !== this.#refused.end) this.#refused = { end, first: now, strikes: [] };
      else if (now >= this.#refused.first + 2_000 && now <= end - 1_000) this.#strike(policy.bans, now);
    }
    return now < (this.ban?.end ?? 0) ? "banned" : "limited";
  }

  settle(settleId: string, cost: number): void {
    for (const each of this.#admitted)
      if (each.settleId === settleId) Object.assign(each, { cost, settleId: undefined });
  }

  used({ seconds }: Limit, now: number): number {
    const window = this.#window(seconds, now);
    return this.#admitted
      .filter((each) => each.seconds === seconds && each.window === window)
      .reduce((sum, { cost }) => sum + cost, 0);
  }

  /** A clock that ran backwards stays in the newest window that something was counted in. */
  #window(seconds: WindowLength, now: number): number {
    const counted = this.#admitted.filter((each) => each.seconds === seconds).map(({ window }) => window);
    return Math.max(numberOf(seconds, now), ...counted);
  }

  #admit(
    limits: readonly Limit[],
    request: { cost: number; settleId: string | undefined },
    now: number,
  ): void {
    const admitted = limits.map(({ seconds }) => ({
      seconds,
      window: this.#window(seconds, now),
      ...request,
    }));
    // Windows without a limit are forgotten once they are over.
    const isKept = ({ seconds, window }: Counted) =>
      now < endOf(seconds, window) || limits.some((limit) => limit.seconds === seconds);
    this.#admitted = [...this.#admitted.filter(isKept), ...admitted];
  }

  strikes(now: number): number {
    return this.#recent(now).length;
  }

  #recent(now: number): number[] {
    return this.#refused.strikes.filter((at) => at > Math.floor(now / 1000) - 600);
  }

  #strike(bans: BanRule, now: number): void {
    const second = Math.floor(now / 1000);
    if (this.#refused.strikes.some((at) => at >= second)) return;
    this.#refused.strikes = [...this.#recent(now), second];
    if (this.#refused.strikes.length < (bans.strikes ?? 20)) return;
    this.#refused = { end: -1, first: 0, strikes: [] };
    const first = (bans.firstSeconds ?? 300) * 1000;
    const isSoon = this.ban !== null && now < this.ban.end + 86_400_000;
    const doubled = isSoon ? Math.min((this.ban?.length ?? 0) * 2, 86_400_000) : 0;
    const length = Math.max(first, doubled);
    this.ban = { id: `ban_key_simulated_${now}`, length, end: Math.ceil((now + length) / 1000) * 1000 };
  }
}

const MONDAY = Date.UTC(1970, 0, 5);

/** Which window of its length a time is in. */
function numberOf(seconds: WindowLength, ms: number): number {
  const at = new Date(ms);
  if (seconds === "month") return at.getUTCFullYear() * 12 + at.getUTCMonth();
  return Math.floor((seconds === 604_800 ? ms - MONDAY : ms) / 1000 / seconds);
}

/** The first millisecond of the next window. */
function endOf(seconds: WindowLength, window: number): number {
  if (seconds === "month") return Date.UTC(Math.floor((window + 1) / 12), (window + 1) % 12);
  return (window + 1) * seconds * 1000 + (seconds === 604_800 ? MONDAY : 0);
}
