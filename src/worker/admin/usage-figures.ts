/** Usage as the admin API shows it. Pure. */
import type { Figures } from "../limiter/core/hours.ts";
import type { DailyUsage } from "../limiter/core/limiter-state.ts";
import { HOUR_MS } from "../limiter/core/quota.ts";
import { rfc3339, toUnixSeconds } from "../time.ts";

export type HourUsage = Figures & {
  /** When the hour begins, as in 2026-11-21T10:00:00Z. */
  readonly hour: string;
};

/** Whether figures of a key have every request so far. */
export type Freshness = {
  /** False: as last reported, and there can be more. True: from the limiter, or final. */
  readonly live: boolean;
};

export function figuresOf(usage: Partial<Figures> | undefined): Figures {
  const { admitted = 0, refused = 0, refusedWhileBanned = 0 } = usage ?? {};
  return { admitted, refused, refusedWhileBanned };
}

/** The 24 hours of a day. */
export function hoursOfDay({ day, hours }: Pick<DailyUsage, "day" | "hours">): HourUsage[] {
  const startMs = Date.parse(`${day}T00:00:00Z`);
  return Array.from({ length: 24 }, (_, i) => {
    const [, admitted = 0, refused = 0, refusedWhileBanned = 0] = hours.find(([hour]) => hour === i) ?? [];
    return { hour: hourName(startMs + i * HOUR_MS), admitted, refused, refusedWhileBanned };
  });
}

export function hourName(startMs: number): string {
  return rfc3339(toUnixSeconds(startMs));
}

/** With one decimal; null for a key without a limit, which is revoked. */
export function percentOf(admitted: number, limit: number): number | null {
  return limit === 0 ? null : Math.round((1_000 * admitted) / limit) / 10;
}
