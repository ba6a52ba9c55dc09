/** Times as people and clients read them. Pure. */

/** Unix seconds as RFC 3339 in UTC, without a fraction: `2026-11-21T10:00:00Z`. */
export function rfc3339(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(".000Z", "Z");
}

export function rfc3339OrNull(unixSeconds: number | null): string | null {
  return unixSeconds === null ? null : rfc3339(unixSeconds);
}
