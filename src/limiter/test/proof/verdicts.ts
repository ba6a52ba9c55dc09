/** The real answer beside that of the model, and whether its headers come true. */
import { type Costs, headersOf, type LimiterCall, type Verdict } from "../../index.ts";
import { expect } from "./difference.ts";
import * as model from "./model.ts";

const MOST_MS = 2_147_483_000;

export function compare(verdict: Verdict | undefined, said: model.Said, now: number): void {
  expect("kind or reason", verdict?.kind === "unknown" ? verdict.reason : verdict?.kind, said.kind);
  if (verdict === undefined || verdict.kind === "unknown") return;
  const views = verdict.quota.map(({ name, limit, unit, seconds, startMs, used, remaining, endsAtMs }) => ({
    ...{ name, limit, unit, seconds, startMs, used, remaining, endsAtMs },
  }));
  expect("quota", views, said.quota);
  expect("headers", headersOf(verdict), model.headersOf(said, now));
  if (verdict.kind === "limited") expect("strikes", verdict.strikes?.count ?? null, said.strikes);
  if (verdict.kind === "banned")
    expect("ban", [verdict.ban.id, verdict.ban.endsAtMs], [said.ban?.id, said.ban?.endsAtMs]);
  if (verdict.kind !== "admitted") expect("wait", verdict.retryAfterMs, said.waitMs);
}

type Cost = NonNullable<LimiterCall["cost"]>;

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
