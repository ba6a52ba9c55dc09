/**
 * Times of forms and addresses. A date-time field has local time without an offset, as in `2026-11-21T10:42`. An address has UTC: a
 * colleague who opens it can be in another time zone. Pure but for the time zone.
 */

/** Of a field's time or of an address's, for an address or the admin API. Undefined for what is no such time. */
export function utcOf(text: string | undefined): string | undefined {
  if (!text || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z?$/.test(text)) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : `${time.toISOString().slice(0, 19)}Z`;
}

/** The minute of an address's time, for a field. Empty for what is no such time. */
export function fieldTimeOf(text: string | undefined): string {
  const utc = utcOf(text);
  return utc === undefined ? "" : localOf(Date.parse(utc));
}

/** Of a field's time. A time of the address is kept while the field shows it: a field has neither seconds nor an offset. */
export function utcOfField(text: string, ofAddress: string | undefined): string | undefined {
  return utcOf(text === fieldTimeOf(ofAddress) ? ofAddress : text);
}

/** The minute of a time, for a field. */
export function localOf(timeMs: number): string {
  const localMs = timeMs - new Date(timeMs).getTimezoneOffset() * 60_000;
  return new Date(localMs).toISOString().slice(0, 16);
}
