/** The current time in Unix seconds, and conversions between Unix milliseconds, Unix seconds and RFC 3339. Pure but for the clock. */
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

/** RFC 3339, section 5.6: `t` and `z` are as good as `T` and `Z`, and so is a blank between date and time. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:)([0-5]\d|60)(\.\d+)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Unix milliseconds of an RFC 3339 date-time that exists, in a year of four digits in UTC; else undefined.
 * Digits beyond the milliseconds are cut off. Unix time has no leap seconds: a leap second becomes the last
 * millisecond of its day.
 */
export function parseRfc3339(text: string): number | undefined {
  const [, date = "", minute = "", second = "", fraction = ".0", offset = ""] = DATE_TIME.exec(text) ?? [];
  if (!isDate(date)) return undefined;
  const isLeap = second === "60";
  const at = new Date(
    `${date}T${minute}${isLeap ? "59.999" : second + fraction.slice(0, ".000".length)}${offset.toUpperCase()}`,
  );
  // Longer if the UTC year has no four digits.
  if (at.toJSON().length !== "2026-11-21T10:00:00.000Z".length) return undefined;
  return isLeap && !/-(?:06-30|12-31)T23:59:/.test(at.toJSON()) ? undefined : at.getTime();
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
