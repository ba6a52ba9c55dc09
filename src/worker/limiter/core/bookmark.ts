/**
 * D1 bookmarks: a session that begins at one reads no earlier state of the database (ADR-19).
 *
 * Pure.
 */

/** Bookmarks of one database sort as text. */
export type Bookmark = string;

/** The later of two bookmarks; undefined if there is none. */
export function laterBookmark(a: Bookmark | undefined, b: Bookmark | undefined): Bookmark | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}
