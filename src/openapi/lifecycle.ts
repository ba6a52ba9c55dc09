/** The lifecycle of the one deprecated operation, getPet: for its response headers and for the document. Pure. */

/** The date of version 1.0.0: the operation has always been deprecated. */
export const PETS_DEPRECATED_DATE = "2026-11-21";

/** `Deprecation` (RFC 9745: a structured field's date) and `Sunset` (RFC 8594: an HTTP date). */
export function petsHeaders(sunsetDate: string): { Deprecation: string; Sunset: string } {
  return {
    Deprecation: `@${startOfDayMs(PETS_DEPRECATED_DATE) / 1000}`,
    Sunset: new Date(startOfDayMs(sunsetDate)).toUTCString(),
  };
}

/** The operation is gone from the start of the sunset's UTC day on. */
export function hasSunset(sunsetDate: string, nowMs: number): boolean {
  return nowMs >= startOfDayMs(sunsetDate);
}

function startOfDayMs(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
