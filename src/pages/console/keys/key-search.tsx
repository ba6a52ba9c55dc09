/** The search field in the bar: leads to a key by its name, owner, id, masked or whole secret. */
import { useLocation } from "preact-iso";
import { SearchBox } from "../../shared/search-box.tsx";
import { useAdmin } from "../admin-context.ts";
import type { KeyView } from "../api-types.ts";
import { asProblem } from "../problem.ts";
import { useRoute } from "../visits.ts";
import { findKeys, noneText, restAddress, searchKeys } from "./find-keys.ts";
import { searchTextOf } from "./search-text.ts";

const MAX_RESULTS = 8;
/** A pause in typing, before the service is asked. */
const PAUSE_MS = 200;

export function KeySearch() {
  const { client, signOut } = useAdmin();
  const { url } = useLocation();
  const route = useRoute();
  const resultOf = (id: string, title: string, text: string) => ({
    key: id,
    title,
    text,
    go: () => route(`/console/keys/${id}`),
  });
  const toResult = (key: KeyView) =>
    resultOf(key.id, key.name, [key.ownerName, key.plan, key.status, key.id].filter(Boolean).join(", "));
  const find = async (query: string) => {
    const search = searchTextOf(query);
    if (search.kind === "id") return [resultOf(search.id, search.id, "Show this key")];
    try {
      if (search.kind !== "text") return (await findKeys(client, search)).map(toResult);
      const query = { search: search.text };
      const page = await searchKeys(client, query, MAX_RESULTS);
      const rest = restAddress(query, page);
      const results = page.keys.map(toResult);
      if (rest === undefined) return results;
      const text = noneText(page, "More keys may match.");
      return [
        ...results,
        { key: "rest", title: "Continue in the list of keys", text, go: () => route(rest) },
      ];
    } catch (thrown) {
      const { kind, message } = asProblem(thrown);
      if (kind === "unauthorized") signOut(true);
      return message;
    }
  };
  return (
    <SearchBox
      label="Search keys"
      find={find}
      pauseMs={PAUSE_MS}
      place={url}
      isSecret={(query) => searchTextOf(query).kind === "secret"}
    />
  );
}
