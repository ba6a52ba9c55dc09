/** The one spelling of a ship date in the database. Pure. */
import { parseRfc3339 } from "../time.ts";

/** An RFC 3339 date-time as UTC with milliseconds, `2026-11-21T10:00:00.000Z`; undefined if it is none. */
export function normaliseShipDate(text: string): string | undefined {
  const atMs = parseRfc3339(text);
  if (atMs === undefined) return undefined;
  const normalised = new Date(atMs).toISOString();
  // An offset can lead out of the years that four digits can tell.
  return normalised.length === "2026-11-21T10:00:00.000Z".length ? normalised : undefined;
}
