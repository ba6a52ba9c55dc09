/** Finds keys by what an operator typed. A secret is hashed in the browser. */
import { type AdminClient, jsonOf } from "../admin-client.ts";
import type { KeyPage, KeyView } from "../api-types.ts";
import { collectPages } from "../collect-pages.ts";
import { Problem } from "../problem.ts";
import { isEndOfSecret, type SearchText, searchTextOf, UNUSABLE } from "./search-text.ts";

/** The keys that are found by a secret or its mask. */
export async function findKeys(
  client: AdminClient,
  search: Extract<SearchText, { kind: "secret" | "hint" }>,
): Promise<KeyView[]> {
  const json = search.kind === "hint" ? { hint: search.hint } : { hash: await sha256(search.secret) };
  return (await jsonOf(client.keys.find.$post({ json }))).keys;
}

async function sha256(text: string): Promise<string> {
  if (!isSecureContext)
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
    const page: KeyPage = await jsonOf(client.keys.$get({ query: { ...query, ...after, limit } }));
    return { items: page.keys, next: page.next };
  });
  return { keys: items, next };
}

/** As `listKeys`; if no name and no owner has the text, it is looked for at the end of the secrets. */
export async function searchKeys(client: AdminClient, query: ListQuery, count: number): Promise<KeyPage> {
  const page = await listKeys(client, query, count);
  const { search, sort: _, ...filters } = query;
  if (page.keys.length > 0 || page.next !== null || Object.keys(filters).length > 0) return page;
  if (search === undefined || !isEndOfSecret(search)) return page;
  return { keys: await findKeys(client, { kind: "hint", hint: search }), next: null };
}

/** The keys that match what was typed: an id, a masked or whole secret, or a part of the name or the owner. */
export async function keysBy(client: AdminClient, typed: string, count: number): Promise<readonly KeyView[]> {
  const search = searchTextOf(typed);
  if (search.kind === "unusable") throw new Problem("invalid", UNUSABLE, "");
  if (search.kind === "text") return (await searchKeys(client, { search: search.text }, count)).keys;
  if (search.kind !== "id") return findKeys(client, search);
  return (await jsonOf(client.keys.find.$post({ json: { id: search.id } }))).keys;
}
