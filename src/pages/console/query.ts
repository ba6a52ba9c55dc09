/** Addresses with a query. Pure. */

/** Empty values are left out. */
export function addressOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const present = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return present.length === 0 ? path : `${path}?${new URLSearchParams(present)}`;
}
