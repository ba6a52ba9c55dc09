/** Finds keys by what an operator typed. A secret is hashed in the browser. */
import { type AdminClient, jsonOf } from "../admin-client.ts";
import type { KeyPage, KeyView } from "../api-types.ts";
import { collectPages } from "../collect-pages.ts";
import { Problem } from "../problem.ts";
import { addressOf } from "../query.ts";
import { isEndOfSecret, type SearchText, searchTextOf } from "./search-text.ts";

/** The keys that are found by a secret or its mask. */
export async function findKeys(
  client: AdminClient,
  search: Extract<SearchText, { kind: "secret" | "hint" }>,
): Promise<KeyView[]> {
  const json = search.kind === "hint" ? { hint: search.hint } : { hash: await sha256(search.secret) };
  return (await jsonOf(client.keys.find.$post({ json }), "keys")).keys;
}

async function sha256(text: string): Promise<string> {
  // Browsers leave it undefined in a page that was not loaded over HTTPS.
  if (!crypto.subtle)
    throw new Problem(
      "failed",
      "This browser hashes only on pages that were loaded over HTTPS.",
      "Open the console at its https address.",
    );
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

type ListQuery = Parameters<AdminClient["keys"]["$get"]>[0]["query"];

/** At least `count` keys, if so many follow soon, and where to go on. */
export async function listKeys(client: AdminClient, query: ListQuery, count: number): Promise<KeyPage> {
  const { items, next } = await collectPages<KeyView, string>(count, async (limit, cursor) => {
    const after = cursor === null ? {} : { after: cursor };
    const page: KeyPage = await jsonOf(
      client.keys.$get({ query: { ...query, ...after, limit } }),
      "keys",
      "next",
    );
    return { items: page.keys, next: page.next };
  });
  return { keys: items, next };
}

/**
 * As `listKeys`, after the keys that have a secret with this end: what a customer reads out can be in a name, too. Of a longer
 * end, the service compares the last 4 characters, which a word may share with a secret: what a name has is not such an end.
 */
export async function searchKeys(client: AdminClient, query: ListQuery, count: number): Promise<KeyPage> {
  const { search = "", sort: _, ...filters } = query;
  const { keys, next } = await listKeys(client, query, count);
  const mayBeEnd = isEndOfSecret(search) && (search.length === 4 || keys.length === 0);
  const isFiltered = Object.keys(filters).length > 0;
  const byEnd = mayBeEnd && !isFiltered ? await findKeys(client, { kind: "hint", hint: search }) : [];
  const isNew = (key: KeyView) => byEnd.every(({ id }) => id !== key.id);
  return { keys: [...byEnd, ...keys.filter(isNew)], next };
}

/**
 * The keys that match what was typed: an id, a masked or whole secret, or a part of the name or the owner. `after` is where
 * an earlier search for the same text ended; null: none did.
 */
export async function keysBy(
  client: AdminClient,
  typed: string,
  count: number,
  after: string | null,
): Promise<KeyPage> {
  const search = searchTextOf(typed);
  if (search.kind === "text") {
    return searchKeys(client, { search: search.text, ...(after === null ? {} : { after }) }, count);
  }
  if (search.kind !== "id") return { keys: await findKeys(client, search), next: null };
  const { keys } = await jsonOf(client.keys.find.$post({ json: { id: search.id } }), "keys");
  return { keys, next: null };
}

/** What a list says in which no key of this page is shown. Nothing was found only if all keys were searched. */
export function noneText({ keys, next }: KeyPage, none: string): string {
  return next === null || keys.length > 0 ? none : "None found so far: not all keys were searched.";
}

/** The keys page with the rest of what was searched for; undefined if there is no more. */
export function restAddress(query: Record<string, string>, { keys, next }: KeyPage): string | undefined {
  if (next === null) return undefined;
  return addressOf("/console/keys", { ...query, after: keys.length === 0 ? next : "" });
}
