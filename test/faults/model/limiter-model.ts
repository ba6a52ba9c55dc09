/**
 * What clients and operators may see of one key's limiter, as docs/promises.md says. It shares no code and no
 * constants with the real one. What a crash may have cost is an interval, until a response shows the exact
 * figure.
 */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STRIKES = 20;
const MAX_RETRY_AFTER = 2_147_483 * SECOND;

export type Limits = { readonly perMinute: number; readonly perDay: number };

export type Ban = { startedAtMs: number; endsAtMs: number; lengthMs: number };

/** What the key's row says at this moment. */
export type Policy = {
  readonly limits: Limits;
  readonly operatorBanEndsAtMs: number | null;
  /** The ban that an operator has lifted or replaced. */
  readonly pardoned: Ban | null;
};

export type ShownWindow = { readonly limit: number; readonly remaining: number; readonly resetAtMs: number };

/** The windows of a customer that a response shows. */
export type SharedWindows = Readonly<Partial<Record<"minute" | "day", ShownWindow>>>;

/** A response to a key, as its headers show it. `shared`: the limit of the customer has refused the request. */
export type Seen = {
  readonly kind: "admitted" | "limited" | "banned" | "shared";
  readonly minuteRemaining: number;
  readonly dayRemaining: number;
  readonly shown: ShownWindow;
  /** Those of the customer. */
  readonly others: SharedWindows;
  readonly retryAfterMs: number | undefined;
  /** What the message of a limited request says. */
  readonly strikes: number | undefined;
};

type Interval = { lo: number; hi: number };

type Window = { startMs: number; used: Interval };

/** Strikes are seconds since 1970. */
type Penalty = { windowEndMs: number; firstRefusalMs: number; strikes: number[] };

export type HourUsage = { admitted: Interval; refused: Interval; banned: Interval };

const exactly = (value: number): Interval => ({ lo: value, hi: value });
const noPenalty = (): Penalty => ({ windowEndMs: -1, firstRefusalMs: 0, strikes: [] });

export class Mismatch extends Error {}

export class LimiterModel {
  /** By the hour's start. */
  readonly usage = new Map<number, HourUsage>();
  lastBan: Ban | null = null;
  readonly bans: Ban[] = [];
  #minute: Window = { startMs: 0, used: exactly(0) };
  #day: Window = { startMs: 0, used: exactly(0) };
  /** If nothing was lost since it was certainly stored, and if everything was. */
  #most = noPenalty();
  #least = noPenalty();
  #stored = noPenalty();
  /** By hour: the refusals that are certainly stored. */
  readonly #storedUsage = new Map<number, { refused: number; banned: number }>();
  /** What the last admitted request, or one before it, may have reserved. */
  #reservedAtMost = 0;
  /** The same of an earlier minute: the day loses it if the object is reset before it counts again. */
  #reservedBefore = 0;
  /** The hour in whose usage the reserve is stored. */
  #reservedHour = 0;
  /** By the limiter's clock. */
  #nowMs = 0;

  /** A response that the limiter decided. Throws if the promises do not allow it. */
  observe(policy: Policy, nowMs: number, seen: Seen): void {
    this.#begin(policy, nowMs);
    const possible = this.#possible(policy, nowMs);
    if (!possible.includes(seen.kind === "shared" ? "admitted" : seen.kind)) {
      throw new Mismatch(
        `the request was ${seen.kind}, not ${possible.join(" or ")}: ${this.describe(policy, nowMs)}`,
      );
    }
    if (seen.kind === "admitted") this.#admit();
    if (seen.kind === "limited") this.#refuse(policy, seen.strikes);
    if (seen.kind === "shared") this.#refuseShared();
    if (seen.kind === "banned") this.#refuseBanned(policy, nowMs);
    if (seen.kind !== "banned") this.#narrow(policy.limits, seen);
    if (seen.kind === "admitted") this.#reserve(policy.limits);
    this.#checkHeaders(policy, nowMs, seen);
  }

  /** A request that the limiter decided, and whose answer was lost. */
  hidden(policy: Policy, nowMs: number): void {
    this.#begin(policy, nowMs);
    const possible = this.#possible(policy, nowMs);
    const [only] = possible;
    if (possible.length > 1) this.mayCount(policy, nowMs);
    else if (only === "admitted") {
      this.#admit();
      this.#reserve(policy.limits);
    } else if (only === "limited") this.#refuse(policy);
    else this.#refuseBanned(policy, nowMs);
  }

  /** The same, if it is known whether the limit of the customer has refused it. */
  decided(policy: Policy, nowMs: number, isRefusedByShared: boolean): void {
    this.#begin(policy, nowMs);
    if (isRefusedByShared) this.#refuseShared();
    else this.hidden(policy, nowMs);
  }

  /** A request that was decided or not: the object was reset around it. */
  mayCount(policy: Policy, nowMs: number): void {
    this.#begin(policy, nowMs);
    const possible = this.#possible(policy, nowMs);
    if (possible.includes("limited")) this.#most = struck(this.#most, this.#exhaustedEnd(policy), nowMs);
    const usage = this.#usageNow();
    for (const used of [this.#minute.used, this.#day.used, usage.admitted]) used.hi += 1;
    usage.refused.hi += 1;
    usage.banned.hi += 1;
    this.#reservedAtMost = Math.max(this.#reservedAtMost, this.#reservedBy(policy.limits));
  }

  /** The reserve counts as used. Refusals and strikes that are not certainly stored may be lost. */
  crash(nowMs: number): void {
    const ofDay = Math.max(this.#reservedAtMost, this.#reservedBefore);
    if (this.#minute.startMs === Math.floor(nowMs / MINUTE) * MINUTE)
      this.#minute.used.hi += this.#reservedAtMost;
    this.#day.used.hi += ofDay;
    this.#giveBack();
    this.#least = copyOf(this.#stored);
    for (const [hour, usage] of this.usage) {
      const stored = this.#storedUsage.get(hour);
      if (hour === this.#reservedHour || hour === hourOf(nowMs)) usage.admitted.hi += ofDay;
      usage.refused.lo = stored?.refused ?? 0;
      usage.banned.lo = stored?.banned ?? 0;
    }
    this.#store();
  }

  /** A second without a request: everything is stored. */
  pause(): void {
    this.#giveBack();
    this.#store();
  }

  describe({ limits }: Policy, nowMs: number): string {
    const show = ({ lo, hi }: Interval) => (lo === hi ? `${lo}` : `${lo} to ${hi}`);
    const ban = this.lastBan === null ? "no ban" : `a ban until ${this.lastBan.endsAtMs}`;
    return `at ${nowMs}: ${show(this.#minute.used)} of ${limits.perMinute} used in the minute, ${show(this.#day.used)} of ${limits.perDay} on the day, ${this.#least.strikes.length} to ${this.#most.strikes.length} strikes, ${ban}`;
  }

  #begin(policy: Policy, nowMs: number): void {
    this.#nowMs = nowMs;
    const minute = Math.floor(nowMs / MINUTE) * MINUTE;
    const day = Math.floor(nowMs / DAY) * DAY;
    if (minute > this.#minute.startMs) {
      this.#minute = { startMs: minute, used: exactly(0) };
      this.#reservedBefore = Math.max(this.#reservedAtMost, this.#reservedBefore);
      this.#reservedAtMost = 0;
    }
    if (day > this.#day.startMs) {
      this.#day = { startMs: day, used: exactly(0) };
      this.#reservedBefore = 0;
    }
    if (this.lastBan === null || this.lastBan !== policy.pardoned) return;
    this.lastBan = null;
    this.#setPenalty(noPenalty());
  }

  #store(): void {
    this.#stored = copyOf(this.#least);
    for (const [hour, { refused, banned }] of this.usage)
      this.#storedUsage.set(hour, { refused: refused.lo, banned: banned.lo });
  }

  #giveBack(): void {
    this.#reservedAtMost = 0;
    this.#reservedBefore = 0;
  }

  #possible(policy: Policy, nowMs: number): Seen["kind"][] {
    if (this.#banEnd(policy, nowMs) !== null) return ["banned"];
    const { perMinute, perDay } = policy.limits;
    const possible: Seen["kind"][] = [];
    if (this.#minute.used.lo < perMinute && this.#day.used.lo < perDay) possible.push("admitted");
    if (this.#minute.used.hi < perMinute && this.#day.used.hi < perDay) return possible;
    const after = (penalty: Penalty) => struck(penalty, this.#exhaustedEnd(policy), nowMs).strikes.length;
    if (after(this.#most) >= STRIKES) possible.push("banned");
    if (after(this.#least) < STRIKES) possible.push("limited");
    return possible;
  }

  #banEnd(policy: Policy, nowMs: number): number | null {
    const ends = [this.lastBan?.endsAtMs ?? 0, policy.operatorBanEndsAtMs ?? 0].filter((end) => nowMs < end);
    return ends.length === 0 ? null : Math.max(...ends);
  }

  #admit(): void {
    const usage = this.#usageNow();
    for (const used of [this.#minute.used, this.#day.used, usage.admitted]) {
      used.lo += 1;
      used.hi += 1;
    }
  }

  /** From 300 a minute on at most a tenth of the minute's limit, and half of what is left. */
  #reservedBy({ perMinute, perDay }: Limits): number {
    const left = Math.min(perMinute - this.#minute.used.lo, perDay - this.#day.used.lo);
    const tenth = perMinute < 300 ? 0 : Math.floor(perMinute / 10);
    return Math.max(0, Math.min(tenth, Math.floor(left / 2)));
  }

  /** A request for which nothing was reserved is stored. */
  #reserve(limits: Limits): void {
    const most = this.#reservedBy(limits);
    const reservedBefore = this.#reservedAtMost;
    if (reservedBefore === 0) this.#store();
    this.#giveBack();
    this.#reservedAtMost = Math.max(most, reservedBefore - 1);
    this.#reservedHour = hourOf(this.#nowMs);
  }

  #refuse(policy: Policy, shown?: number): void {
    const usage = this.#usageNow();
    usage.refused.lo += 1;
    usage.refused.hi += 1;
    const end = this.#exhaustedEnd(policy);
    this.#least = struck(this.#least, end, this.#nowMs);
    this.#most = struck(this.#most, end, this.#nowMs);
    // It was no ban, so there are fewer strikes than a ban needs.
    this.#most.strikes = this.#most.strikes.slice(-(STRIKES - 1));
    const [least, most] = [this.#least.strikes.length, this.#most.strikes.length];
    if (shown !== undefined && (shown < least || shown > most))
      throw new Mismatch(`${shown} strikes are shown, not ${least} to ${most}`);
  }

  /** It counts nothing, and is no strike. */
  #refuseShared(): void {
    const usage = this.#usageNow();
    usage.refused.lo += 1;
    usage.refused.hi += 1;
  }

  #refuseBanned(policy: Policy, nowMs: number): void {
    const usage = this.#usageNow();
    usage.banned.lo += 1;
    usage.banned.hi += 1;
    if (this.#banEnd(policy, nowMs) !== null) return;
    const last = this.lastBan;
    const doubles = last !== null && nowMs < last.endsAtMs + DAY;
    const lengthMs = doubles ? Math.min(2 * last.lengthMs, DAY) : 5 * MINUTE;
    const endsAtMs = Math.ceil((nowMs + lengthMs) / SECOND) * SECOND;
    this.lastBan = { startedAtMs: nowMs, endsAtMs, lengthMs };
    this.bans.push(this.lastBan);
    this.#setPenalty(noPenalty());
    this.#giveBack();
    this.#store();
  }

  #setPenalty(penalty: Penalty): void {
    this.#most = copyOf(penalty);
    this.#least = copyOf(penalty);
    this.#stored = copyOf(penalty);
  }

  /** The end of the window that refuses: of two exhausted ones the day's. */
  #exhaustedEnd({ limits }: Policy): number {
    const isDay = this.#day.used.lo >= limits.perDay;
    return isDay ? this.#day.startMs + DAY : this.#minute.startMs + MINUTE;
  }

  /** The headers show what is left, so the interval of what was lost ends. They do not tell it by hour. */
  #narrow({ perMinute, perDay }: Limits, seen: Seen): void {
    this.#narrowOne("minute", this.#minute.used, perMinute, seen.minuteRemaining);
    this.#narrowOne("day", this.#day.used, perDay, seen.dayRemaining);
  }

  #narrowOne(name: string, used: Interval, limit: number, remaining: number): void {
    const lowest = Math.max(0, limit - used.hi);
    const highest = Math.max(0, limit - used.lo);
    if (remaining < lowest || remaining > highest) {
      throw new Mismatch(`${remaining} of the ${name} remain, not ${lowest} to ${highest} (of ${limit})`);
    }
    if (remaining > 0) used.lo = limit - remaining;
    if (remaining > 0) used.hi = limit - remaining;
    else used.lo = Math.max(used.lo, limit);
  }

  #checkHeaders(policy: Policy, nowMs: number, seen: Seen): void {
    const { limits } = policy;
    const minute = {
      limit: limits.perMinute,
      remaining: seen.minuteRemaining,
      resetAtMs: this.#minute.startMs + MINUTE,
    };
    const day = { limit: limits.perDay, remaining: seen.dayRemaining, resetAtMs: this.#day.startMs + DAY };
    const { minute: sharedMinute, day: sharedDay } = seen.others;
    const shared = [sharedMinute ?? [], sharedDay ?? []].flat();
    const allowed =
      seen.kind === "banned"
        ? this.#bannedHeaders(policy, nowMs, minute, day)
        : nearestOf(seen.kind === "shared" ? shared : [minute, day, ...shared]);
    const shown = JSON.stringify(seen.shown);
    if (!allowed.some((each) => JSON.stringify(each) === shown)) {
      throw new Mismatch(
        `X-RateLimit shows ${shown}, not ${allowed.map((each) => JSON.stringify(each)).join(" or ")}`,
      );
    }
    const wait = (Math.ceil((seen.shown.resetAtMs - nowMs) / SECOND) || 1) * SECOND;
    const expected = seen.kind === "admitted" ? undefined : Math.min(wait, MAX_RETRY_AFTER);
    if (seen.retryAfterMs !== expected)
      throw new Mismatch(`Retry-After is ${seen.retryAfterMs} ms, not ${expected}`);
  }

  /** A ban's wait covers an exhausted window that ends later (ADR-7). */
  #bannedHeaders(policy: Policy, nowMs: number, minute: Seen["shown"], day: Seen["shown"]): Seen["shown"][] {
    const endsAtMs = this.#banEnd(policy, nowMs) ?? 0;
    const { perMinute, perDay } = policy.limits;
    const windows = [
      { ...day, remaining: 0, isSure: this.#day.used.lo >= perDay, isPossible: this.#day.used.hi >= perDay },
      {
        ...minute,
        remaining: 0,
        isSure: this.#minute.used.lo >= perMinute,
        isPossible: this.#minute.used.hi >= perMinute,
      },
    ];
    const allowed: Seen["shown"][] = [];
    for (const { isSure, isPossible, limit, remaining, resetAtMs } of windows) {
      const counts = resetAtMs > endsAtMs;
      const byBan = { limit: perMinute, remaining: 0, resetAtMs: endsAtMs };
      if (isPossible) allowed.push(counts ? { limit, remaining, resetAtMs } : byBan);
      if (isSure) return allowed;
    }
    return [...allowed, { limit: perMinute, remaining: 0, resetAtMs: endsAtMs }];
  }

  #usageNow(): HourUsage {
    const hour = hourOf(this.#nowMs);
    const known = this.usage.get(hour) ?? { admitted: exactly(0), refused: exactly(0), banned: exactly(0) };
    this.usage.set(hour, known);
    return known;
  }
}

/** Those with the fewest requests left, and of them those that end last. */
function nearestOf(windows: readonly ShownWindow[]): readonly ShownWindow[] {
  const least = Math.min(...windows.map(({ remaining }) => remaining));
  const nearest = windows.filter(({ remaining }) => remaining === least);
  const lastMs = Math.max(...nearest.map(({ resetAtMs }) => resetAtMs));
  return nearest.filter(({ resetAtMs }) => resetAtMs === lastMs);
}

function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR) * HOUR;
}

function copyOf(penalty: Penalty): Penalty {
  return { ...penalty, strikes: [...penalty.strikes] };
}

/** The penalty state after one more refusal by the window. */
function struck(penalty: Penalty, windowEndMs: number, nowMs: number): Penalty {
  if (penalty.windowEndMs !== windowEndMs) return { windowEndMs, firstRefusalMs: nowMs, strikes: [] };
  const second = Math.floor(nowMs / SECOND);
  const recent = penalty.strikes.filter((at) => at > second - 600);
  const isUnread = nowMs - penalty.firstRefusalMs < 2 * SECOND;
  const counts = !isUnread && windowEndMs - nowMs >= SECOND && !recent.includes(second);
  return { ...penalty, strikes: counts ? [...recent, second] : recent };
}
