/** The current time in Unix seconds, and conversions between Unix milliseconds, Unix seconds and RFC 3339. */

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

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Unix milliseconds of an RFC 3339 date-time; undefined if it is none. `Date` would take 30 February for 2 March. */
export function parseRfc3339(text: string): number | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day] = match.map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  return Date.parse(text.toUpperCase());
}

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
