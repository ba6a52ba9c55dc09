/** The current time in Unix seconds, and conversions between Unix milliseconds, Unix seconds and RFC 3339. */

/** D1 stores times in Unix seconds. */
export function nowSeconds(): number {
  return toUnixSeconds(Date.now());
}

/** Rounds down to whole Unix seconds. */
export function toUnixSeconds(unixMs: number): number {
  return Math.floor(unixMs / 1000);
}

/** Writes Unix seconds as RFC 3339 in UTC, without a fraction: `2026-11-21T10:00:00Z`. */
export function rfc3339(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(".000Z", "Z");
}

export function rfc3339OrNull(unixSeconds: number | null): string | null {
  return unixSeconds === null ? null : rfc3339(unixSeconds);
}

/** Whether the text is a date that exists, such as `2026-11-21`. `Date` takes 30 February for 2 March. */
export function isDate(text: string): boolean {
  const startMs = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(startMs) && new Date(startMs).toISOString() === `${text}T00:00:00.000Z`;
}

/** RFC 3339, section 5.6: `t` and `z` may replace `T` and `Z`, and a blank may separate date and time. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:)([0-5]\d|60)(\.\d+)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Returns the Unix milliseconds of an RFC 3339 date-time that exists, in a year of four digits in UTC, or
 * undefined. Digits beyond the milliseconds are cut off. Unix time has no leap seconds: a leap second becomes
 * the last millisecond of its day.
 */
export function parseRfc3339(text: string): number | undefined {
  const [, date = "", minute = "", second = "", fraction = ".0", offset = ""] = DATE_TIME.exec(text) ?? [];
  if (!isDate(date)) return undefined;
  const isLeap = second === "60";
  const at = new Date(
    `${date}T${minute}${isLeap ? "59.999" : second + fraction.slice(0, ".000".length)}${offset.toUpperCase()}`,
  );
  // The text is longer if the UTC year does not have four digits.
  if (at.toJSON().length !== "2026-11-21T10:00:00.000Z".length) return undefined;
  return isLeap && !/-(?:06-30|12-31)T23:59:/.test(at.toJSON()) ? undefined : at.getTime();
}

export const HOUR_SECONDS = 3_600;
export const DAY_SECONDS = 86_400;

/** Returns the midnight after this many UTC days. The day of the given time is the first day. */
export function midnightAfter(unixSeconds: number, days: number): number {
  return unixSeconds - (unixSeconds % DAY_SECONDS) + days * DAY_SECONDS;
}

/** Returns the UTC day of a time: `2026-11-21`. */
export function dayName(unixSeconds: number): string {
  return rfc3339(unixSeconds).slice(0, "2026-11-21".length);
}

/** Returns the UTC day this many days ago. */
export function daysBefore(count: number): string {
  return dayName(nowSeconds() - count * DAY_SECONDS);
}
