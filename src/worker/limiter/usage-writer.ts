/** Writes a limiter's reports to D1, and pauses after a failure so that requests do not add to an outage. */
import type { Bindings } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { writeUsageReport } from "../db/usage-report-repository.ts";
import { logError } from "../log.ts";
import type { Report } from "./core/outbox.ts";

const PAUSE_AFTER_FAILURE_MS = 10_000;

export class UsageWriter {
  readonly #env: Bindings;
  #pausedUntilMs = 0;

  constructor(env: Bindings) {
    this.#env = env;
  }

  isPaused(nowMs: number): boolean {
    return nowMs < this.#pausedUntilMs;
  }

  /** Whether D1 has the report now. Writing one twice does no harm. */
  async write(keyId: string, report: Report): Promise<boolean> {
    try {
      await writeUsageReport(openDatabase(this.#env.DB), keyId, report.days, report.bans);
      return true;
    } catch (thrown) {
      this.#pausedUntilMs = Date.now() + PAUSE_AFTER_FAILURE_MS;
      logError("usage_report_failed", thrown, { keyId });
      return false;
    }
  }
}
