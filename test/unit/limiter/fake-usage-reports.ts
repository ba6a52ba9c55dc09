/** D1 as the limiter's reports see it. One for all test files, since they share modules: a day's figures only grow. */
import type { DailyUsage } from "../../../src/worker/limiter/core/limiter-state.ts";

export type Answer = "given" | "lost" | "none";

export const d1 = { answer: "given" as Answer, delayMs: 0, reports: 0, admitted: new Map<string, number>() };

export function resetD1(): void {
  Object.assign(d1, { answer: "given", delayMs: 0, reports: 0, admitted: new Map() });
}

/** In place of that of usage-report-repository.ts. */
export async function writeUsageReport(
  _db: unknown,
  _keyId: string,
  days: readonly DailyUsage[],
): Promise<void> {
  const { answer, delayMs } = d1;
  d1.reports++;
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  if (answer !== "none") {
    for (const { day, admitted } of days) d1.admitted.set(day, Math.max(d1.admitted.get(day) ?? 0, admitted));
  }
  if (answer !== "given") throw new Error("Network connection lost.");
}
