/** Search and filters of the keys page. They are part of its address, except a secret. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useLatest } from "../../shared/use-latest.ts";
import { useAdmin } from "../admin-context.ts";
import { InputField, SelectField } from "../components/field.tsx";
import { ProblemNotice } from "../components/notices.tsx";
import { addressOf } from "../query.ts";
import { useSubmit } from "../use-submit.ts";
import { useTyped } from "../use-typed.ts";
import { onVisit, useRoute } from "../visits.ts";
import { findKeys } from "./find-keys.ts";
import { PLANS, STATUSES } from "./key-types.ts";
import { listQueryOf } from "./list-query.ts";
import { searchTextOf } from "./search-text.ts";

const SORTS = [
  ["", "Created"],
  ["name", "Name"],
  ["owner", "Owner"],
  ["expiry", "Expiry"],
] as const;

const TIMES = [
  ["", "Any"],
  ["expiring", "Expire within 30 days"],
  ["unused", "Unused for 30 days"],
] as const;

export function KeyFilters() {
  const { client } = useAdmin();
  const { query, url } = useLocation();
  const route = useRoute();
  const { plan = "", status = "", sort = "" } = listQueryOf(query, Date.now());
  const { value: text, onInput: setText } = useTyped(query.search ?? "");
  const [message, setMessage] = useState("");
  const latest = useLatest(url);
  const type = (typed: string) => {
    latest.current = "";
    setText(typed);
  };
  /** With the text that is typed. What is no text to search for must not stay beside a list that was not searched for it. */
  const filterBy = (changes: Record<string, string>) => {
    const typed = searchTextOf(text);
    const search = typed.kind === "text" ? typed.text : "";
    type(search);
    route(addressOf("/console/keys", { ...query, after: "", search, ...changes }));
    if (typed.kind !== "text")
      setMessage("What looks like an id or a secret is not searched for with a filter.");
  };
  const { submit, problem, clear } = useSubmit(async () => {
    const search = searchTextOf(text);
    setMessage("");
    if (search.kind === "id") return route(`/console/keys/${search.id}`);
    if (search.kind === "text") return filterBy({});
    latest.current = text;
    const [found, ...others] = await findKeys(client, search);
    if (latest.current !== text) return;
    setText("");
    if (found && others.length === 0) return route(`/console/keys/${found.id}`);
    setMessage(
      found
        ? "Several keys match. Without other filters, a search for the characters after the … lists them."
        : search.kind === "hint"
          ? "No key has a secret with this end."
          : "No key has this secret.",
    );
  });
  // Neither what a search before found nor what it will find is about the list that is visited.
  useEffect(
    () =>
      onVisit(() => {
        latest.current = "";
        setMessage("");
        clear();
      }),
    [latest, clear],
  );
  return (
    <search>
      <form class="filters" onSubmit={submit}>
        <InputField
          label="Name, owner, id or secret"
          type="search"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={type}
        />
        <SelectField
          label="Plan"
          value={plan}
          options={[["", "All"], ...PLANS.map((plan) => [plan, plan] as const)]}
          onChange={(plan) => filterBy({ plan })}
        />
        <SelectField
          label="Status"
          value={status}
          options={[["", "All"], ...STATUSES.map((status) => [status, status] as const)]}
          onChange={(status) => filterBy({ status })}
        />
        <SelectField
          label="Time"
          value={query.time ?? ""}
          options={TIMES}
          onChange={(time) => filterBy({ time })}
        />
        <SelectField label="Sorted by" value={sort} options={SORTS} onChange={(sort) => filterBy({ sort })} />
        <button type="submit" class="button">
          Search
        </button>
      </form>
      <p role="status">{message}</p>
      {problem && <ProblemNotice problem={problem} />}
    </search>
  );
}
