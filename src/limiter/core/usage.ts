/**
 * Usage by hour and bans, until they are reported. Figures are absolute, so a report may be repeated.
 *
 * Pure: `nowMs` is a parameter, and new values are returned.
 */
import type { Ban } from "./bans.ts";
import type { Verdict } from "./decide.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Refusals in one minute of the hour, 0 to 59: how many by each window's name, or by "ban". */
export type RefusedMinute = { readonly minute: number; readonly by: Readonly<Record<string, number>> };

/** The usage of one UTC hour. */
export type HourUsage = {
  readonly startMs: number;
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
  readonly refusedMinutes: readonly RefusedMinute[];
};

export type Report = {
  readonly key: string;
  readonly hours: readonly HourUsage[];
  readonly bans: readonly Ban[];
};

export type Outbox = {
  /** Oldest first. The last one stays when it is reported: a clock that runs backwards counts into it again. */
  readonly hours: readonly HourUsage[];
  readonly isLastHourReported: boolean;
  readonly bans: readonly Ban[];
};

export const EMPTY_OUTBOX: Outbox = { hours: [], isLastHourReported: true, bans: [] };

/** Adds a verdict to the newest hour, and a ban that began. */
export function record(outbox: Outbox, verdict: Verdict, begun: Ban | null, nowMs: number): Outbox {
  if (verdict.kind === "unknown") return outbox;
  const last = outbox.hours.at(-1);
  const startMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  const isNew = last === undefined || startMs > last.startMs;
  const hour = isNew ? { startMs, admitted: 0, refused: 0, refusedWhileBanned: 0, refusedMinutes: [] } : last;
  return {
    hours: [...kept(outbox, isNew), count(hour, verdict, nowMs)],
    isLastHourReported: false,
    bans: begun ? [...outbox.bans, begun] : outbox.bans,
  };
}

function kept({ hours, isLastHourReported }: Outbox, isNewHour: boolean): readonly HourUsage[] {
  return isNewHour && !isLastHourReported ? hours : hours.slice(0, -1);
}

function count(hour: HourUsage, verdict: Exclude<Verdict, { kind: "unknown" }>, nowMs: number): HourUsage {
  switch (verdict.kind) {
    case "admitted":
      return { ...hour, admitted: hour.admitted + 1 };
    case "limited": {
      const refusedMinutes = addRefusal(hour, verdict.window.name, nowMs);
      return { ...hour, refused: hour.refused + 1, refusedMinutes };
    }
    case "banned": {
      const refusedMinutes = addRefusal(hour, "ban", nowMs);
      return { ...hour, refusedWhileBanned: hour.refusedWhileBanned + 1, refusedMinutes };
    }
  }
}

function addRefusal(
  { startMs, refusedMinutes }: HourUsage,
  by: string,
  nowMs: number,
): readonly RefusedMinute[] {
  const minute = Math.max(0, Math.floor((nowMs - startMs) / MINUTE_MS));
  const before = refusedMinutes.find((each) => each.minute === minute);
  if (before === undefined) return [...refusedMinutes, { minute, by: { [by]: 1 } }];
  const after = { minute, by: { ...before.by, [by]: (before.by[by] ?? 0) + 1 } };
  return refusedMinutes.map((each) => (each === before ? after : each));
}

/** What is not reported: bans and ended hours, and with `isAll` the current hour. */
export function pendingReport(
  outbox: Outbox,
  key: string,
  nowMs: number,
  isAll: boolean,
): Report | undefined {
  const hours = unreportedHours(outbox).filter((hour) => isAll || nowMs >= hour.startMs + HOUR_MS);
  return hours.length + outbox.bans.length === 0 ? undefined : { key, hours, bans: outbox.bans };
}

export function unreportedHours({ hours, isLastHourReported }: Outbox): readonly HourUsage[] {
  return isLastHourReported ? hours.slice(0, -1) : hours;
}

/** The outbox once the report has arrived. What was added meanwhile stays. */
export function acknowledge(outbox: Outbox, report: Report): Outbox {
  const last = outbox.hours.at(-1);
  return {
    hours: outbox.hours.filter((hour) => hour === last || !report.hours.includes(hour)),
    isLastHourReported: outbox.isLastHourReported || (last !== undefined && report.hours.includes(last)),
    bans: outbox.bans.filter((ban) => !report.bans.includes(ban)),
  };
}

/** When an hour is reported: each key has its own minute of the next hour, so that reports come in no burst. */
export function hourDueAtMs({ startMs }: HourUsage, key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i++) hash = (hash * 31 + key.charCodeAt(i)) >>> 0;
  return startMs + HOUR_MS + (hash % 60) * MINUTE_MS;
}

/** When the newest hour is over; 0 without one. */
export function hoursEndAtMs({ hours }: Outbox): number {
  return (hours.at(-1)?.startMs ?? -HOUR_MS) + HOUR_MS;
}
