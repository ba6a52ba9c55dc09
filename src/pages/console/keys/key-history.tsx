/** What happened to a key: bans, changes and hours with refusals, and why it was refused at a time, which is in the address. */
import { useLocation } from "preact-iso";
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { KeyEvent, KeyHistoryView } from "../api-types.ts";
import { InputField } from "../components/field.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { fieldTimeOf, localOf, utcOf, utcOfField } from "../local-time.ts";
import { addressOf } from "../query.ts";
import { useLoad } from "../use-load.ts";
import { useTyped } from "../use-typed.ts";
import { useRoute } from "../visits.ts";

const REFRESH_MS = 30_000;

/** `changes` counts the changes made on this page: each of them is an event. */
export function KeyHistory({ id, changes }: { readonly id: string; readonly changes: number }) {
  const { client } = useAdmin();
  const asked = useLocation().query.at;
  const at = utcOf(asked);
  const query = at === undefined ? {} : { at };
  const loaded = useLoad(
    () => jsonOf(client.keys[":id"].history.$get({ param: { id }, query }), "events", "reasons"),
    JSON.stringify([id, asked]),
    { everyMs: REFRESH_MS, changes },
  );
  return (
    <section aria-labelledby="history">
      <h2 id="history">What happened</h2>
      <AskForTime path={`/console/keys/${id}`} />
      <WhenLoaded loaded={loaded}>
        {(history) => (
          <>
            {history.at !== null && <Reasons history={history} />}
            <h3>{history.at === null ? "The last 24 hours" : "The 24 hours before, and the hour after"}</h3>
            <Table
              caption="What happened"
              columns={COLUMNS}
              rows={history.events}
              rowKey={({ kind, from, text }) => `${kind} ${from} ${text}`}
              empty="No refusals, no bans and no changes."
            />
          </>
        )}
      </WhenLoaded>
    </section>
  );
}

function AskForTime({ path }: { readonly path: string }) {
  const { query } = useLocation();
  const route = useRoute();
  const asked = fieldTimeOf(query.at);
  const time = useTyped(asked);
  return (
    <form
      class="filters"
      aria-label="Why was it refused?"
      onSubmit={(event) => {
        event.preventDefault();
        route(addressOf(path, { at: utcOfField(time.value, query.at) }));
      }}
    >
      <InputField
        label="Why was it refused at (your local time)"
        type="datetime-local"
        required
        max={localOf(Date.now())}
        {...time}
      />
      <button type="submit" class="button">
        Show why
      </button>
      {query.at && <a href={path}>The last 24 hours</a>}
    </form>
  );
}

function Reasons({ history: { at, reasons } }: { readonly history: KeyHistoryView }) {
  return (
    <div class="notice" role="status">
      <p>
        <strong>
          At <Time iso={at} />:
        </strong>
      </p>
      <ul>
        {reasons.map((reason) => (
          <li key={`${reason.from} ${reason.text}`}>
            {reason.text} <Source reason={reason} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Source({ reason: { from, until, actor } }: { readonly reason: KeyEvent }) {
  if (from === null) return null;
  return (
    <span class="muted">
      ({until === null ? "since " : ""}
      <Time iso={from} />
      {until !== null && (
        <>
          {" to "}
          <Time iso={until} />
        </>
      )}
      {actor !== null && `, by ${actor}`})
    </span>
  );
}

const COLUMNS: readonly Column<KeyEvent>[] = [
  { name: "From", cell: ({ from }) => <Time iso={from} /> },
  { name: "Until", cell: ({ until }) => <Time iso={until} /> },
  { name: "What", cell: ({ kind }) => kind },
  { name: "Who", cell: ({ actor }) => actor ?? "–" },
  { name: "Details", cell: ({ text }) => text },
];
