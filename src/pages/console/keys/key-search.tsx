/** The search field in the bar: leads to a key by its name, owner, id, masked or whole secret. */
import { useLocation } from "preact-iso";
import { SearchBox } from "../../shared/search-box.tsx";
import { useAdmin } from "../admin-context.ts";
import type { KeyView } from "../api-types.ts";
import { Problem } from "../problem.ts";
import { findKeys, searchKeys } from "./find-keys.ts";
import { searchTextOf, UNUSABLE } from "./search-text.ts";

const MAX_RESULTS = 8;
/** A pause in typing, before the service is asked. */
const PAUSE_MS = 200;

export function KeySearch() {
  const { client, signOut } = useAdmin();
  const { route } = useLocation();
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
    if (search.kind === "unusable") return UNUSABLE;
    if (search.kind === "id") return [resultOf(search.id, search.id, "Show this key")];
    try {
      if (search.kind !== "text") return (await findKeys(client, search)).map(toResult);
      return (await searchKeys(client, { search: search.text }, MAX_RESULTS)).keys.map(toResult);
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown;
      if (thrown.kind === "unauthorized") signOut(true);
      return thrown.message;
    }
  };
  return <SearchBox label="Search keys" find={find} pauseMs={PAUSE_MS} />;
}
