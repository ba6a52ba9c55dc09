/** What happened on a day that somebody chose, as a line of time. */
import type * as v from "valibot";
import type { DayEvent, dayAnswer } from "../../admin/days/calls.ts";
import { dayCalls } from "../../admin/days/calls.ts";
import { Totals } from "./chart.tsx";
import { addressOf, ask } from "./forms.ts";
import { Presets } from "./list.tsx";
import { type ConsoleContext, docsUrl } from "./page.tsx";
import { Field, Submit, Time } from "./ui.tsx";

type Day = v.InferOutput<typeof dayAnswer>;

/** Nothing is asked before somebody has chosen a day. */
export function chosenDay(
  c: ConsoleContext,
  of: keyof typeof dayCalls,
  id: string,
): Promise<Day> | undefined {
  const at = c.req.query("day");
  return at ? ask(c, dayCalls[of], { at }, id) : undefined;
}

export function dayAddress(path: string, day: string): string {
  return `${addressOf(path, { day })}#day`;
}

type Props = {
  readonly path: string;
  readonly chosen: string | undefined;
  readonly day: Day | undefined;
  readonly ofKey?: true;
};

export function DayLine({ path, chosen = "", day, ofKey }: Props) {
  return (
    <section id="day">
      <h2>What happened on a day</h2>
      <form method="get" action={`${path}#day`} class="row">
        <Field name="day" label="Day or time (UTC)" value={chosen} hint="2026-12-03, or yesterday 14:00" />
        <Submit>Show</Submit>
      </form>
      <Presets
        links={[
          ["Today", dayAddress(path, "today"), chosen === "today"],
          ["Yesterday", dayAddress(path, "yesterday"), chosen === "yesterday"],
        ]}
      />
      {day && <Line day={day} ofKey={ofKey} />}
    </section>
  );
}

function Line({
  day: { from, to, completeFrom, total, events, hasMore },
  ofKey,
}: {
  readonly day: Day;
  readonly ofKey: true | undefined;
}) {
  return (
    <>
      <Totals of={total}>
        , from <Time iso={from} /> to <Time iso={to} />
      </Totals>
      {completeFrom > from && <p class="hint">Usage of this time is deleted, or there was none.</p>}
      {events.length === 0 ? (
        <p class="muted">No refusal, ban, change or cancel, and no request.</p>
      ) : (
        <ol class="feed">
          {events.map((event) => (
            <li class={event.kind}>
              <time datetime={event.at}>{clockOf(event, from)}</time>{" "}
              {!ofKey && event.keyId !== null && (
                <>
                  <a href={`/console/keys/${event.keyId}`}>{event.keyName}</a>:{" "}
                </>
              )}
              <Says of={event} />
            </li>
          ))}
        </ol>
      )}
      {hasMore && (
        <p class="hint">There was more: choose a time, or read the audit log, the bans and the cancels.</p>
      )}
      <p class="hint">
        Has a secret leaked? First rotate it, and end the old one at once. Which secret cancelled an order,
        and from which network, is not known: from then on, the{" "}
        <a href={docsUrl("runbook.md#the-line-of-a-request")}>request log</a> has the networks that still send
        the old one.
      </p>
    </>
  );
}

/** A cancelled order has no page, but may have been loaded again: *Find* knows both. */
function Says({ of: { says, orderId } }: { readonly of: DayEvent }) {
  return orderId === null ? says : <a href={addressOf("/console/find", { text: orderId })}>{says}</a>;
}

/** `14:00 to 14:12`, with the day if it is another one. */
function clockOf({ at, until }: DayEvent, from: string): string {
  const clock = (iso: string) =>
    iso.slice(0, 10) === from.slice(0, 10) ? iso.slice(11, 16) : iso.slice(0, 16).replace("T", " ");
  return until === null ? clock(at) : `${clock(at)} to ${clock(until)}`;
}
