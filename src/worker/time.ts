/** The current time in Unix seconds, and conversions between Unix milliseconds, Unix seconds and RFC 3339. Pure but for the clock. */
import * as v from "valibot";

/** The unit of times in D1. */
export function nowSeconds(): number {
  return toUnixSeconds(Date.now());
}

/** Whole Unix seconds, rounded down. */
export function toUnixSeconds(unixMs: number): number {
  return Math.floor(unixMs / 1000);
}

/** Unix seconds as RFC 3339 in UTC, without a fraction: `2026-11-21T10:00:00Z`. */
export function rfc3339(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(".000Z", "Z");
}

export function rfc3339OrNull(unixSeconds: number | null): string | null {
  return unixSeconds === null ? null : rfc3339(unixSeconds);
}

/** Whether the text is a date that exists, as in `2026-11-21`. `Date` takes 30 February for 2 March. */
export function isDate(text: string): boolean {
  const startMs = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(startMs) && new Date(startMs).toISOString() === `${text}T00:00:00.000Z`;
}

const DATE_TIME = v.pipe(v.string(), v.isoTimestamp());

/** Unix milliseconds of an RFC 3339 date-time that exists, in a year of four digits in UTC; else undefined. */
export function parseRfc3339(text: string): number | undefined {
  if (!v.is(DATE_TIME, text) || !isDate(text.slice(0, "2026-11-21".length))) return undefined;
  const at = new Date(text);
  // `null` if `Date` does not know this form of an offset, and longer if the UTC year has no four digits.
  return at.toJSON()?.length === "2026-11-21T10:00:00.000Z".length ? at.getTime() : undefined;
}

export const HOUR_SECONDS = 3_600;
export const DAY_SECONDS = 86_400;

/** The midnight that ends the last of so many UTC days. The first of them is the day of the given time. */
export function midnightAfter(unixSeconds: number, days: number): number {
  return unixSeconds - (unixSeconds % DAY_SECONDS) + days * DAY_SECONDS;
}

/** The UTC day that a time is in: `2026-11-21`. */
export function dayName(unixSeconds: number): string {
  return rfc3339(unixSeconds).slice(0, "2026-11-21".length);
}

/** The UTC day that began so many days ago. */
export function daysBefore(count: number): string {
  return dayName(nowSeconds() - count * DAY_SECONDS);
}
