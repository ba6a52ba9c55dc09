/** Callers that wait for their turn: at its turn each is admitted, and no caller could have come earlier. */
import { type Counters, decide, NOTHING_COUNTED } from "../../core/decide.ts";
import { NOBODY_WAITS, type Queue, takeTurn } from "../../core/turns.ts";
import { expect } from "./difference.ts";
import type { World } from "./explore.ts";
import { textOf } from "./text.ts";

const LIMIT = 3;
const POLICY = { limits: [{ name: "a", requests: LIMIT, seconds: 1 }] };
const START = Date.UTC(2026, 0, 1);

type Waiting = { readonly cost: number; readonly atMs: number };
type Line = {
  readonly counters: Counters;
  readonly queue: Queue;
  readonly nowMs: number;
  readonly waiting: readonly Waiting[];
};

/** The first window in which the caller fits behind all who wait. */
function turnOf({ waiting, nowMs }: Line, cost: number): number {
  const nextMs = nowMs - (nowMs % 1_000) + 1_000;
  const lastMs = Math.max(nextMs, ...waiting.map(({ atMs }) => atMs));
  const last = waiting.filter(({ atMs }) => atMs === lastMs).reduce((sum, each) => sum + each.cost, 0);
  return last + cost > LIMIT ? lastMs + 1_000 : lastMs;
}

const caller = (cost: number, waitMs: number) => (line: Line) => {
  const { verdict, counters } = decide(line.counters, POLICY, "key", { cost }, line.nowMs);
  if (verdict.kind !== "limited") return { ...line, counters };
  const { queue, retryAfterMs } = takeTurn(line.queue, verdict.window, cost, waitMs, line.nowMs);
  const atMs = line.nowMs + retryAfterMs;
  expect("the turn", atMs, turnOf(line, cost));
  const waiting = retryAfterMs <= waitMs ? [...line.waiting, { cost, atMs }] : line.waiting;
  return { ...line, counters, queue, waiting };
};

/** Those whose turn comes by then ask at their turn, in their order. */
const pass = (ms: number) => (line: Line) => {
  const untilMs = line.nowMs + ms;
  let { counters } = line;
  for (const { cost, atMs } of line.waiting.filter((each) => each.atMs <= untilMs)) {
    const decision = decide(counters, POLICY, "key", { cost }, atMs);
    expect("who comes at its turn is", decision.verdict.kind, "admitted");
    counters = decision.counters;
  }
  return { ...line, counters, nowMs: untilMs, waiting: line.waiting.filter(({ atMs }) => atMs > untilMs) };
};

export const TURNS: World<Line> = {
  name: "turns",
  scope: "a window of 3; callers of cost 1, 2 and 3 that wait for 10 s, and one that waits for a second",
  depth: [6, 13],
  start: { counters: NOTHING_COUNTED, queue: NOBODY_WAITS, nowMs: START, waiting: [] },
  textOf: (line) => `${line.nowMs % 1_000} ${textOf(line, line.nowMs, 10_000)}`,
  events: {
    "a caller": caller(1, 10_000),
    "a caller of cost 2": caller(2, 10_000),
    "a caller of cost 3": caller(3, 10_000),
    "a caller that waits for a second": caller(2, 1_000),
    "half a second": pass(500),
    "two seconds": pass(2_000),
  },
};
