/** The real answer beside that of the model, and whether its headers come true. */
import { isScarcer } from "../../core/headers.ts";
import type { Row } from "../../core/state.ts";
import {
  type Costs,
  headersOf,
  type Inspection,
  type LimiterCall,
  type Policy,
  type Verdict,
} from "../../index.ts";
import { expect } from "./difference.ts";
import * as model from "./model.ts";
import * as usage from "./usage.ts";

const MOST_MS = 2_147_483_000;

export function compare(verdict: Verdict | undefined, said: model.Said, now: number): void {
  expect("kind or reason", verdict?.kind === "unknown" ? verdict.reason : verdict?.kind, said.kind);
  if (verdict === undefined || verdict.kind === "unknown") return;
  const views = verdict.quota.map(({ name, limit, unit, seconds, startMs, used, remaining, endsAtMs }) => ({
    ...{ name, limit, unit, seconds, startMs, used, remaining, endsAtMs },
  }));
  expect("quota", views, said.quota);
  expect("headers", headersOf(verdict), model.headersOf(said, now));
  expect("scarcer than itself", isScarcer(verdict, verdict), false);
  if (verdict.kind === "limited") expect("strikes", verdict.strikes?.count ?? null, said.strikes);
  if (verdict.kind === "banned")
    expect("ban", [verdict.ban.id, verdict.ban.endsAtMs], [said.ban?.id, said.ban?.endsAtMs]);
  if (verdict.kind !== "admitted") expect("wait", verdict.retryAfterMs, said.waitMs);
}

type Cost = NonNullable<LimiterCall["cost"]>;

export function compareInspection(
  seen: Inspection | null,
  present: model.Model,
  policy: Policy,
  now: number,
): void {
  const views = model.viewsOf(present, policy, now);
  const isPardoned = present.lastBan && present.lastBan.id === policy.pardonedBan;
  const strikes = isPardoned ? 0 : model.strikesOf(present, now).length;
  const times = [...present.windows.map(({ startMs }) => startMs), ...usage.refusedAtMs(present.usage)];
  const lastRequestMs = times.length > 0 ? Math.max(...times) : null;
  expect(
    "inspected windows",
    seen?.quota.map(({ used }) => used),
    views.map(({ used }) => used),
  );
  expect("inspected ban", seen?.ban?.endsAtMs, model.banOf(present, policy, now)?.endsAtMs);
  expect("inspected strikes", seen?.strikes, strikes);
  expect("last request", seen?.lastRequestMs, lastRequestMs);
}

/** What remains is admitted and not more; a refused request is admitted at `Retry-After` and not a second before. */
export function comesTrue(
  verdict: Verdict,
  cost: Cost = 1,
  kindAt: (atMs: number, cost: Cost) => string,
): void {
  if (verdict.kind === "unknown" || verdict.kind === "too_costly") return;
  const { nowMs, kind, quota } = verdict;
  const headers = headersOf(verdict);
  if (kind === "admitted") {
    const remaining = Number(headers["X-RateLimit-Remaining"]);
    const inFirstUnit = (amount: number) => ({ requests: 0, [quota[0]?.unit ?? "requests"]: amount });
    if (remaining > 0) expect("all that remains", kindAt(nowMs, inFirstUnit(remaining)), "admitted");
    expect("more than remains", kindAt(nowMs, inFirstUnit(remaining + 1)) === "admitted", false);
    return;
  }
  const earlyMs = Number(headers["X-RateLimit-Reset"]) * 1000 - 1_000;
  if (earlyMs >= nowMs) expect("before Retry-After", kindAt(earlyMs, cost) === "admitted", false);
  const waitMs = Number(headers["Retry-After"]) * 1000;
  // Some requests are never admitted, and a timer has a longest wait.
  if (Number.isNaN(waitMs)) {
    expect("the wait", verdict.retryAfterMs, null);
    return;
  }
  const costs: Costs<string> = typeof cost === "number" ? { requests: cost } : { requests: 1, ...cost };
  const isPossible = quota.every(({ unit, limit }) => (costs[unit] ?? 0) <= limit) && waitMs < MOST_MS;
  if (isPossible) expect("at Retry-After", kindAt(nowMs + waitMs, cost), "admitted");
}

/**
 * Whether the row counted a single admitted request before it came, and there is nothing else to store. One that
 * costs more than a block stores the exact count.
 */
export function isCovered(
  row: Row | undefined,
  before: model.Model,
  after: model.Model,
  [said, ...others]: readonly model.Said[],
  call: LimiterCall = {},
): boolean {
  if (row === undefined || said?.kind !== "admitted" || others.length > 0) return false;
  if (after.open.length + row.reserves.length > 0 || usage.hasTold(before.usage, after.usage)) return false;
  if (!usage.coversHour(after.usage, row.outbox)) return false;
  return after.windows.every((window) => {
    const isCounted = said.quota.some((view) => model.isSame(view, window));
    const block = isCounted ? Math.floor(window.mayLose) : 0;
    const stored = row.counts.find((count) => model.isSame(count, window))?.used ?? -1;
    const isBlock = !isCounted || model.costOf(call, window) <= block;
    return isBlock && stored >= window.used && stored <= window.used + block;
  });
}
