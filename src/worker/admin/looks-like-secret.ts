/** Recognises secrets in text that operators write: names, notes and reasons are stored and shown in clear. Pure. */

/** A key, or enough of one that it should be rotated. A masked secret has six characters in a row at most. */
const KEY = /sok_[0-9A-Za-z]{8}/i;

const BEARER = /\bbearer\s+\S{8}/i;

/** A run of characters as long as the shortest admin token. */
const LONG_WORD = /[\w-]{32,}/g;

/** Long words that are no secret: our ids, and UUIDs such as a request id. */
const ID = /^(?:(?:key|ban|imp)_[\w-]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

export function looksLikeSecret(text: string): boolean {
  if (KEY.test(text) || BEARER.test(text)) return true;
  return (text.match(LONG_WORD) ?? []).some((word) => !ID.test(word));
}
