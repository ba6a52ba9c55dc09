/**
 * The real object, its store and the core, on a platform of a few variables. A machine is made from an image,
 * does one thing beside the model, compares the two, and leaves an image. Two images with one text are one
 * state: times are relative to the clock.
 */

import { decide } from "../../core/decide.ts";
import type { Row, State } from "../../core/state.ts";
import { usageDueAtMs } from "../../core/usage.ts";
import { type Block, type LimiterCall, type Policy, RateLimiter, type Report } from "../../index.ts";
import { Store } from "../../store.ts";
import { Difference, expect } from "./difference.ts";
import * as model from "./model.ts";
import * as usage from "./usage.ts";
import { comesTrue, compare, compareInspection, isCovered } from "./verdicts.ts";

export const KEY = "key";
const DAY_MS = 86_400_000;
const SHARES = { window: "b", percents: [50, 100] };

export type Image = {
  /** What is durable. */
  readonly row: Row | undefined;
  /** What the object knows and the row does not. */
  readonly memory: State | undefined;
  readonly nowMs: number;
  readonly policy: Policy | null;
  readonly model: model.Model;
};

class Limiter extends RateLimiter {
  override async loadPolicy() {
    return present?.load() ?? null;
  }
}

class ReportingLimiter extends Limiter {
  override async report(report: Report) {
    await present?.hear(report);
  }
}

/** The machine that runs: one at a time. */
let present: Machine | undefined;
let captured: Store | undefined;

/** Replaces the clock and the timers, and sees the store of each object, while `run` runs. */
export async function withMachine<T>(run: () => Promise<T>): Promise<T> {
  const { setTimeout, clearTimeout } = globalThis;
  const { now } = Date;
  const state = Object.getOwnPropertyDescriptor(Store.prototype, "state") ?? {};
  Date.now = () => present?.nowMs ?? now();
  Object.assign(globalThis, {
    setTimeout: (run: () => void, ms = 0) => present?.setTimer(run, ms),
    clearTimeout: (timer: number) => present?.timers.delete(timer),
  });
  const get = function (this: Store): State {
    captured = this;
    return state.get?.call(this);
  };
  Object.defineProperty(Store.prototype, "state", { ...state, get });
  try {
    return await run();
  } finally {
    Date.now = now;
    Object.assign(globalThis, { setTimeout, clearTimeout });
    Object.defineProperty(Store.prototype, "state", state);
    present = undefined;
  }
}

/** So many requests can be counted ahead. */
const mayAdd = ({ windows }: model.Model) => Math.max(0, ...windows.map(({ mayLose }) => mayLose));

export class Machine {
  nowMs: number;
  policy: Policy | null;
  model: model.Model;
  row: Row | undefined;
  isReadOnly = false;
  loads = 0;
  /** What becomes of a report. */
  receiver: "hears" | "fails" | "hears, and its answer is lost" | "hears, and answers late" = "hears";
  /** Whether the alarm or an operator asks for a report, which is then made of anything. */
  #isAsked = false;
  readonly #lateAnswer = Promise.withResolvers<void>();
  readonly timers = new Map<number, { readonly atMs: number; readonly run: () => void }>();
  #timer = 0;
  /** What was wrong in a report or in a load, whose errors the object takes for failures. */
  #wrong: unknown;
  #held: Promise<unknown>[] = [];
  object: Limiter;
  store: Store;

  constructor(image: Image) {
    present = this;
    this.nowMs = image.nowMs;
    this.policy = image.policy;
    this.model = image.model;
    this.row = image.row;
    [this.object, this.store] = this.#start();
    if (image.memory !== undefined) this.store.adopt(image.memory);
  }

  #start(): [Limiter, Store] {
    const storage = {
      kv: {
        get: () => this.row && { ...this.row, loaded: undefined },
        put: (_: string, row: Row) => {
          if (this.isReadOnly) throw new Error("the storage cannot be written");
          this.row = row;
        },
      },
      setAlarm: async (alarmAtMs: number) => {
        if (this.model.usage) usage.checkAlarm(this.model.usage, alarmAtMs, this.nowMs);
        this.#note({ alarmAtMs });
      },
      deleteAll: async () => this.#forget(),
    };
    const waitUntil = (promise: Promise<unknown>) => this.#held.push(promise);
    // The object uses these members only.
    this.loads = 0;
    const context = { id: { name: KEY }, storage, waitUntil } as unknown as DurableObjectState;
    const object = this.model.usage
      ? new ReportingLimiter(context, {}, { thresholds: SHARES })
      : new Limiter(context, {}, { keep: true });
    if (captured === undefined) throw new Error("an object looks at its state when it starts");
    return [object, captured];
  }

  /** After another machine. */
  resume(): void {
    present = this;
  }

  setTimer(run: () => void, ms: number): number {
    this.timers.set(++this.#timer, { atMs: this.nowMs + ms, run });
    return this.#timer;
  }

  /** The timers run at their time. A clock that is set back runs none. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    this.loads = 0;
    for (;;) {
      const due = [...this.timers].filter(([, { atMs }]) => atMs <= untilMs && ms > 0);
      const [next] = due.toSorted(([, a], [, b]) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.timers.delete(next[0]);
      this.nowMs = Math.max(this.nowMs, next[1].atMs);
      next[1].run();
      await this.#done();
    }
    this.nowMs = untilMs;
  }

  /** Asks for requests in one call, as the model does one by one. */
  async ask(...calls: LimiterCall[]): Promise<void> {
    const { model: before, row } = this;
    const { state } = this.store;
    const all = calls.map((call) => this.#say(call));
    const verdicts = await this.object.admitAll(calls).catch((thrown: unknown) => {
      if (this.isReadOnly) return undefined;
      throw thrown;
    });
    if (verdicts === undefined) {
      this.model = before;
      return expect("nothing is counted that is not stored", this.store.state === state, true);
    }
    if (this.receiver === "hears, and answers late") return;
    this.#lateAnswer.resolve();
    await this.#done();
    for (const [i, said] of all.entries()) compare(verdicts[i], said, this.nowMs);
    if (isCovered(row, before, this.model, all, calls[0]))
      expect("no write inside of a block", this.row === row, true);
    const last = verdicts.at(-1);
    // Headers cannot know a change of limits.
    if (last === undefined || this.policy === null || this.policy.later !== undefined) return;
    const policy = { ...this.policy, credentials: undefined };
    comesTrue(last, calls.at(-1)?.cost, (atMs, cost) => {
      return decide(this.store.state, policy, KEY, { cost }, atMs).verdict.kind;
    });
  }

  #say(call: LimiterCall): model.Said {
    const { lastBan } = this.model;
    const { said, model: after } = model.ask(this.model, this.policy, call, KEY, this.nowMs);
    const begun = after.lastBan === lastBan ? undefined : after.lastBan?.id;
    this.model = after;
    if (after.usage) this.#note(usage.count(after.usage, said, begun, SHARES, this.nowMs));
    return said;
  }

  /** Everything that the object does behind its answers. */
  async #done(): Promise<void> {
    while (this.#held.length > 0) await Promise.all(this.#held.splice(0));
    if (this.#wrong !== undefined) throw this.#wrong;
  }

  #note(change: Partial<usage.Usage>): void {
    if (this.model.usage) this.model = { ...this.model, usage: { ...this.model.usage, ...change } };
  }

  async settle(id: string, cost: NonNullable<LimiterCall["cost"]>): Promise<void> {
    this.model = model.settle(this.model, id, cost);
    await this.object.settle(id, cost);
  }

  async block(block: Block): Promise<void> {
    this.model = { ...this.model, block };
    await this.object.block(block);
  }

  async unblock(): Promise<void> {
    this.model = { ...this.model, block: null, lastBan: null, refused: null };
    await this.object.unblock();
  }

  /** An operator lifts the ban: the next policy names it. */
  pardon(): boolean {
    if (this.policy === null || this.model.lastBan === null) return false;
    this.policy = { ...this.policy, pardonedBan: this.model.lastBan.id };
    return true;
  }

  load(): Policy | null {
    return this.#check(() => {
      if (++this.loads > 1) throw new Difference("a policy is loaded twice");
      return this.policy;
    });
  }

  #check<T>(check: () => T): T {
    try {
      return check();
    } catch (thrown) {
      this.#wrong = thrown;
      throw thrown;
    }
  }

  /** A report that a request, a timer or the alarm has begun, or an operator. */
  async hear(report: Report): Promise<void> {
    const { usage: known } = this.model;
    if (known === null) return;
    const heard = this.#check(() => {
      if (!this.#isAsked) usage.checkNeed(known, this.nowMs);
      return usage.hear(known, report);
    });
    const { receiver, nowMs } = this;
    if (receiver !== "fails") this.#note({ ...heard, heardAtMs: nowMs });
    const isLost = receiver === "fails" || receiver === "hears, and its answer is lost";
    const failed = { failures: known.failures + 1, failedAtMs: nowMs, isKnown: false };
    this.#note(isLost ? failed : { failures: 0, failedAtMs: 0, isKnown: true });
    if (isLost) throw new Error("no answer");
    if (receiver === "hears, and answers late") await this.#lateAnswer.promise;
  }

  /** The alarm comes, if one is set. What is left is reported, or the storage is deleted. */
  async alarm(): Promise<boolean> {
    const { usage: known } = this.model;
    if (known === null || known.alarmAtMs === null) return false;
    await this.pass(Math.max(0, known.alarmAtMs - this.nowMs));
    const { outbox } = this.store.state;
    const dueAtMs = Array.from({ length: 60 }, (_, i) => usageDueAtMs(outbox, `${i} of sixty keys`));
    const isBurst = dueAtMs[0] !== null && new Set(dueAtMs).size < 20;
    expect("sixty keys report in a burst", isBurst, false);
    this.#note({ alarmAtMs: null });
    this.#isAsked = true;
    await this.object.alarm();
    await this.#done();
    const { usage: told } = this.model;
    // The alarm of a report that waits can come before the report is due.
    const isOver = this.nowMs >= this.#endMs() + 600_000 && told?.isKnown && usage.isAllHeard(told);
    if (isOver) expect("what is stored when all is over", this.row, undefined);
    return true;
  }

  async flush(): Promise<void> {
    this.#isAsked = true;
    await this.object.flush();
    const { usage: known } = this.model;
    if (known) expect("all is told", usage.isAllHeard(known), true);
  }

  checkNews(): void {
    const { usage: known } = this.model;
    if (known === null || this.receiver !== "hears") return;
    expect("news that waits", (usage.newsDueAtMs(known) ?? Infinity) <= this.nowMs, false);
  }

  /** News is reported again at its time and not before, whoever asks. Nothing counts a cost above the limit. */
  async repeatNews(attempts: number): Promise<boolean> {
    this.receiver = "fails";
    for (let i = 0; i < attempts; i++) {
      const { usage: known } = this.model;
      const dueAtMs = known && usage.newsDueAtMs(known);
      if (known === null || dueAtMs == null || dueAtMs <= this.nowMs) return false;
      for (const [atMs, failures] of [
        [dueAtMs - 1, known.failures],
        [dueAtMs, known.failures + 1],
      ] as const) {
        await this.pass(atMs - this.nowMs);
        await this.ask({ cost: 1_000_000 });
        expect("failed reports", this.model.usage?.failures, failures);
      }
    }
    return true;
  }

  /** When nothing counts any more. */
  #endMs(): number {
    const { windows, lastBan, block, usage: known } = this.model;
    const ends = [lastBan && lastBan.endsAtMs + DAY_MS, block?.endsAtMs, known && usage.hoursEndMs(known)];
    return Math.max(...windows.map(model.endOf), ...ends.map((each) => each ?? 0));
  }

  #forget(): void {
    const { usage: known } = this.model;
    if (this.nowMs < this.#endMs() || (known && !usage.isAllHeard(known)))
      throw new Difference("deleted too early");
    this.row = undefined;
    this.model = { ...model.NEW, usage: known && usage.UNUSED };
  }

  /** Five seconds after a request, all is known that must be, unless the clock ran back since the last report. */
  async checkLag(): Promise<void> {
    const isBack = this.nowMs < (this.model.usage?.heardAtMs ?? 0);
    await this.pass(5_000);
    if (!isBack && this.model.usage?.failures === 0) usage.checkLag(this.model.usage, this.nowMs);
  }

  /** The object goes on from its row, and so does the model, once it is sure that the row may say so. */
  crash(): void {
    const { row } = this;
    const known = model.undone(this.model, this.row?.reserves.map(({ settleId }) => settleId) ?? []);
    this.timers.clear();
    [this.object, this.store] = this.#start();
    const windows = known.windows.map((each) => ({
      ...each,
      used: row?.counts.find((count) => model.isSame(count, each))?.used ?? each.used,
      mayLose: 0,
    }));
    this.model = { ...known, settled: [], windows, refused: row?.penalty.refusedWindow ?? null };
    if (known.usage) this.#note(usage.crashed(known.usage, row?.outbox, mayAdd(known)));
  }

  /** What is true in each state. */
  async leave(): Promise<Image> {
    await this.#done();
    const { state } = this.store;
    const { row } = this;
    const stored = row?.reserves.map(({ settleId }) => settleId) ?? [];
    const after = { ...this.model, settled: this.model.settled.filter(({ id }) => stored.includes(id)) };
    for (const each of after.windows) {
      const isIt = (count: State["counts"][number]) => model.isSame(count, each);
      expect("count", state.counts.find(isIt)?.used, each.used);
      const crashed = model.undone(after, stored).windows.find(isIt)?.used ?? 0;
      const lost = (row?.counts.find(isIt)?.used ?? -1) - crashed;
      expect(`lost by a crash, of at most ${each.mayLose}: ${lost}`, lost >= 0 && lost <= each.mayLose, true);
    }
    expect(
      "open requests",
      state.reserves.map(({ settleId }) => settleId),
      after.open.map(({ id }) => id),
    );
    expect("stored ban", row?.penalty.lastBan?.id, after.lastBan?.id);
    expect("stored block", row?.block ?? null, after.block);
    const [kept, known] = [row?.penalty.refusedWindow, state.penalty.refusedWindow];
    if (kept && known && kept.endsAtMs === known.endsAtMs)
      expect(
        "invented strikes",
        kept.strikes.filter((each) => each > this.nowMs / 1000 - 600 && !known.strikes.includes(each)),
        [],
      );
    const { policy, nowMs } = this;
    if (after.usage) {
      usage.crashed(after.usage, row?.outbox, mayAdd(after));
      this.#checkUsage(after.usage);
    }
    if (policy !== null && !policy.refused)
      compareInspection(await this.object.inspect(), this.model, policy, nowMs);
    return { row, memory: this.timers.size > 0 ? state : undefined, nowMs, policy, model: after };
  }

  #checkUsage(known: usage.Usage): void {
    if (this.timers.size > 0) return;
    const { alarmAtMs } = known;
    const latestMs =
      usage.isAllHeard(known) && known.failures === 0 ? this.#endMs() + 600_000 : this.nowMs + 3_660_000;
    const isSet = alarmAtMs !== null && alarmAtMs <= Math.max(latestMs, this.nowMs + 70_000);
    expect("an alarm comes", this.row === undefined || isSet, true);
  }
}
