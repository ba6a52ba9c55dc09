/** The `next` member of a page. */

/** The id to go on after; null when the page is not full, and so the last. */
export function nextCursor<Id extends string | number>(
  rows: readonly { readonly id: Id }[],
  limit: number,
): Id | null {
  return rows.length === limit ? (rows.at(-1)?.id ?? null) : null;
}
