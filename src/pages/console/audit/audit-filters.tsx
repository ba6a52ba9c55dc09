/** The filters of the audit page. They are part of its address, except a secret. */
import { useEffect, useId, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { AUDIT_CALLS } from "../../../worker/db/values.ts";
import { useAdmin } from "../admin-context.ts";
import { InputField, SelectField } from "../components/field.tsx";
import { isSecret } from "../keys/search-text.ts";
import { fieldTimeOf, utcOfField } from "../local-time.ts";
import { addressOf } from "../query.ts";
import { useRoute } from "../visits.ts";

type Texts = { readonly actor: string; readonly object: string; readonly from: string; readonly to: string };

/** `names` are suggested for who made a change. */
export function AuditFilters({ names }: { readonly names: readonly string[] }) {
  const { token } = useAdmin().session;
  const { query } = useLocation();
  const route = useRoute();
  const { actor = "", call = "", object = "" } = query;
  const [from, to] = [fieldTimeOf(query.from), fieldTimeOf(query.to)];
  const [texts, setTexts] = useState<Texts>({ actor, object, from, to });
  useEffect(() => setTexts({ actor, object, from, to }), [actor, object, from, to]);
  const listId = useId();
  const hasSecret = isSecret(texts.actor, token) || isSecret(texts.object, token);
  const filterBy = (chosenCall: string) => {
    if (hasSecret) return;
    const typed = { actor: texts.actor.trim(), object: texts.object.trim() };
    const times = { from: utcOfField(texts.from, query.from), to: utcOfField(texts.to, query.to) };
    route(addressOf("/console/audit", { ...typed, ...times, call: chosenCall }));
  };
  const field = (name: keyof Texts) => ({
    value: texts[name],
    onInput: (value: string) => setTexts((latest) => ({ ...latest, [name]: value })),
  });
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
        <InputField label="Who" list={listId} {...text} {...field("actor")} />
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
        <InputField label="Object" placeholder="id of a key, plan, order" {...text} {...field("object")} />
        <InputField label="From" type="datetime-local" {...field("from")} />
        <InputField label="To" type="datetime-local" {...field("to")} />
        <button type="submit" class="button">
          Search
        </button>
        {Object.keys(query).length > 0 && <a href="/console/audit">All entries</a>}
      </form>
      <p role="status" class="problem">
        {hasSecret && "This looks like a secret. It is not sent."}
      </p>
    </search>
  );
}
