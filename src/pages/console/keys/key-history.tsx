/** What happened to a key: the newest changes and bans, and the hours with refusals. */
import { jsonOf } from "../admin-client.ts";
import { useAdmin } from "../admin-context.ts";
import type { KeyHistoryView } from "../api-types.ts";
import { Members } from "../audit/audit-table.tsx";
import { WhenLoaded } from "../components/notices.tsx";
import { type Column, Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { useLoad } from "../use-load.ts";

const REFRESH_MS = 30_000;

type Event = KeyHistoryView["events"][number];
type Hour = KeyHistoryView["hours"][number];

/** `changes` counts the changes made on this page: each of them is an event. */
export function KeyHistory({ id, changes }: { readonly id: string; readonly changes: number }) {
  const { client } = useAdmin();
  const loaded = useLoad(
    () => jsonOf(client.keys[":id"].history.$get({ param: { id }, query: {} }), "events", "hours"),
    id,
    { everyMs: REFRESH_MS, changes },
  );
  return (
    <section aria-labelledby="history">
      <h2 id="history">What happened</h2>
      <WhenLoaded loaded={loaded}>
        {({ events, hours, complete }) => (
          <>
            <Table
              caption="What happened"
              columns={EVENT}
              rows={events}
              rowKey={(event) => (event.kind === "ban" ? event.ban.id : String(event.change.id))}
              empty="No changes and no bans."
            />
            <h3>Hours with refusals, last 7 days</h3>
            <Table
              caption="Hours with refusals"
              columns={HOUR}
              rows={hours}
              rowKey={({ hour }) => hour}
              empty="No refusals."
            />
            {!complete && <p>The limiter cannot be reached: its latest refusals can be missing.</p>}
            <p class="muted">For a single request, search the log for its X-Request-Id.</p>
          </>
        )}
      </WhenLoaded>
    </section>
  );
}

const EVENT: readonly Column<Event>[] = [
  { name: "When", cell: ({ at }) => <Time iso={at} /> },
  { name: "What", cell: (event) => (event.kind === "ban" ? "ban" : event.change.call) },
  { name: "Who", cell: (event) => (event.kind === "ban" ? "–" : event.change.actor) },
  {
    name: "Before",
    cell: (event) => (event.kind === "ban" ? "–" : <Members value={event.change.before} />),
  },
  {
    name: "After",
    cell: (event) => <Members value={event.kind === "ban" ? shownOf(event.ban) : event.change.after} />,
  },
];

function shownOf({ cause, reason, endsAt, liftedAt, liftedBy }: Extract<Event, { kind: "ban" }>["ban"]) {
  return { cause, reason, endsAt, ...(liftedAt === null ? {} : { liftedAt, liftedBy }) };
}

const HOUR: readonly Column<Hour>[] = [
  { name: "Hour", cell: ({ hour }) => <Time iso={hour} /> },
  { name: "Refused", isNumber: true, cell: ({ refused }) => refused },
  { name: "While banned", isNumber: true, cell: ({ refusedWhileBanned }) => refusedWhileBanned },
  { name: "Admitted", isNumber: true, cell: ({ admitted }) => admitted },
  { name: "Refused by", cell: causesOf },
];

/** As in `minute 12, ban 3`. */
function causesOf({ minutes }: Hour): string {
  const counts = new Map<string, number>();
  for (const [cause, count] of minutes.flatMap(({ by }) => Object.entries(by))) {
    counts.set(cause, (counts.get(cause) ?? 0) + count);
  }
  return [...counts].map((entry) => entry.join(" ")).join(", ");
}
