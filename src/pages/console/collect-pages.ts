/** Lists of the admin API whose pages can have fewer items than asked for, or none, although more follow. */

/** Then what was found is shown, with where to go on. A page of few keys searches 300. */
const MAX_PAGES = 10;

type Page<T, Cursor> = { readonly items: readonly T[]; readonly next: Cursor | null };

/** At least `count` items, if so many follow soon, and where to go on. */
export async function collectPages<T, Cursor>(
  count: number,
  load: (limit: string, cursor: Cursor | null) => Promise<Page<T, Cursor>>,
): Promise<{ items: T[]; next: Cursor | null }> {
  const items: T[] = [];
  let next: Cursor | null = null;
  for (let pages = 0; pages < MAX_PAGES && items.length < count; pages++) {
    const page = await load(String(count - items.length), next);
    items.push(...page.items);
    next = page.next;
    if (next === null) break;
  }
  return { items, next };
}
