/** The format of ship dates in the database. Pure. */
import { parseRfc3339 } from "../time.ts";

/** An RFC 3339 date-time as UTC with milliseconds, `2026-11-21T10:00:00.000Z`; undefined if it is not valid. */
export function normaliseShipDate(text: string): string | undefined {
  const atMs = parseRfc3339(text);
  if (atMs === undefined) return undefined;
  const normalised = new Date(atMs).toISOString();
  // With its offset, the UTC year can be below 0 or above 9999.
  return normalised.length === "2026-11-21T10:00:00.000Z".length ? normalised : undefined;
}
