/** The end of the only deprecated operation, getPet, for its response headers and for the document. */

/** The date of version 1.0.0: the operation has always been deprecated. */
export const PETS_DEPRECATED_DATE = "2026-11-21";

/** `Deprecation` is a structured field's date (RFC 9745), and `Sunset` an HTTP date (RFC 8594). */
export function petsHeaders(sunsetDate: string): { Deprecation: string; Sunset: string } {
  return {
    Deprecation: `@${startOfDayMs(PETS_DEPRECATED_DATE) / 1000}`,
    Sunset: new Date(startOfDayMs(sunsetDate)).toUTCString(),
  };
}

/** The operation ends at the start of the UTC day of the sunset. */
export function hasSunset(sunsetDate: string, nowMs: number): boolean {
  return nowMs >= startOfDayMs(sunsetDate);
}

function startOfDayMs(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
