/** The search field in the bar: leads to a key by its name or id. */

import { useLocation } from "preact-iso";
import { SearchBox, type SearchResult } from "../../shared/search-box.tsx";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import { Problem } from "../problem.ts";
import { isKeyId, isSecret } from "./key-types.ts";

const MAX_RESULTS = 8;
/** A pause in typing, before the service is asked. */
const PAUSE_MS = 200;

export function KeySearch() {
  const { client, signOut } = useAdmin();
  const { route } = useLocation();
  const resultOf = (id: string, title: string, text: string): SearchResult => ({
    key: id,
    title,
    text,
    go: () => route(`/console/keys/${id}`),
  });
  const find = async (query: string) => {
    if (isSecret(query)) return "This is a secret. It is not sent.";
    if (isKeyId(query)) return [resultOf(query, query, "Show this key")];
    try {
      const { keys } = await jsonOf(client.keys.$get({ query: { name: query, limit: String(MAX_RESULTS) } }));
      return keys.map((key) => resultOf(key.id, key.name, `${key.plan}, ${key.status}, ${key.id}`));
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown;
      if (thrown.kind === "unauthorized") signOut(true);
      return thrown.message;
    }
  };
  return <SearchBox label="Search keys by name or id" find={find} pauseMs={PAUSE_MS} />;
}
