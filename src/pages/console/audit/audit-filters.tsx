/** The filters of the audit page. They are part of its address. */
import { useId } from "preact/hooks";
import { useLocation } from "preact-iso";
import { AUDIT_CALLS } from "../../../worker/db/values.ts";
import { InputField, SelectField } from "../components/field.tsx";
import { fieldTimeOf, utcOfField } from "../local-time.ts";
import { addressOf } from "../query.ts";
import { useTyped } from "../use-typed.ts";
import { useRoute } from "../visits.ts";

/** `names` are suggested for who made a change. */
export function AuditFilters({ names }: { readonly names: readonly string[] }) {
  const { query } = useLocation();
  const route = useRoute();
  const { call = "" } = query;
  const actor = useTyped(query.actor ?? "");
  const object = useTyped(query.object ?? "");
  const from = useTyped(fieldTimeOf(query.from));
  const to = useTyped(fieldTimeOf(query.to));
  const listId = useId();
  const filterBy = (chosenCall: string) => {
    const typed = { actor: actor.value.trim(), object: object.value.trim() };
    const times = { from: utcOfField(from.value, query.from), to: utcOfField(to.value, query.to) };
    route(addressOf("/console/audit", { ...typed, ...times, call: chosenCall }));
  };
  const text = { type: "search", autocomplete: "off", spellcheck: false } as const;
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          filterBy(call);
        }}
      >
        <InputField label="Who" list={listId} {...text} {...actor} />
        <datalist id={listId}>
          {[...new Set(names)].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <SelectField
          label="Call"
          value={call}
          options={[["", "All"], ...AUDIT_CALLS.map((each) => [each, each] as const)]}
          onChange={filterBy}
        />
        <InputField label="Object" placeholder="id of a key, plan, order" {...text} {...object} />
        <InputField label="From" type="datetime-local" {...from} />
        <InputField label="To" type="datetime-local" {...to} />
        <button type="submit" class="button">
          Search
        </button>
        {Object.keys(query).length > 0 && <a href="/console/audit">All entries</a>}
      </form>
    </search>
  );
}
