/** Times as the browser's date-time fields have them: local, without an offset, as in `2026-11-21T10:42`. Pure but for the time zone. */

/** Undefined for what is no such time. */
export function rfc3339OfLocal(local: string | undefined): string | undefined {
  if (!local || !/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/.test(local)) return undefined;
  const time = new Date(local.includes("T") ? local : `${local}T00:00`);
  return Number.isNaN(time.getTime()) ? undefined : `${time.toISOString().slice(0, 19)}Z`;
}

/** The present minute. */
export function localOf(timeMs: number): string {
  const localMs = timeMs - new Date(timeMs).getTimezoneOffset() * 60_000;
  return new Date(localMs).toISOString().slice(0, 16);
}
