/** When requests were refused: a map of hours by days, and what happened on a day that somebody chose. */
import type * as v from "valibot";
import { type DayEvent, type dayAnswer, dayCalls } from "../../admin/days/calls.ts";
import type { TimeUsage } from "../../admin/usage/schema.ts";
import { counted, formatDay, formatNumber } from "../../text/format.ts";
import { daysBefore } from "../../text/time.ts";
import { Totals } from "./chart.tsx";
import { failureOf } from "./failure.tsx";
import { addressOf, ask } from "./forms.ts";
import { Presets } from "./list.tsx";
import { type ConsoleContext, docsUrl } from "./page.tsx";
import { Field, Submit, Time } from "./ui.tsx";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const STEPS = 4;
/** How many days the page of a key and of a customer shows. */
const DAYS = 14;

/** What such a page asks for. */
export function hoursOfDays() {
  return { by: "hour", from: daysBefore(DAYS - 1) };
}

type HeatProps = {
  readonly caption: string;
  /** Every hour of the days, oldest first. */
  readonly rows: readonly TimeUsage[];
  /** The address of what happened on a day. */
  readonly dayAddress: (day: string) => string;
};

/** Where the colour is, requests were refused. It is a table for everybody. */
export function HeatMap({ caption, rows, dayAddress }: HeatProps) {
  const most = Math.max(...rows.map(refusedIn));
  if (most <= 0) return <p class="muted">{caption}: none.</p>;
  const days = [...Map.groupBy(rows, ({ start }) => start.slice(0, "2026-11-21".length))].toReversed();
  return (
    <section class="scrollable" tabindex={0} aria-label={caption}>
      <table class="heat">
        <caption>
          {caption}, UTC. The darkest hour had {formatNumber(most)}.
        </caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {HOURS.map((hour) => (
              <th scope="col">{hour % 6 === 0 ? hour : <span class="sr-only">{hour}</span>}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map(([day, hours]) => (
            <tr>
              <th scope="row">
                <a href={dayAddress(day)}>{formatDay(day).slice(0, -" 2026".length)}</a>
              </th>
              {HOURS.map((hour) => (
                <Cell of={hours.find(({ start }) => Number(start.slice(11, 13)) === hour)} most={most} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function refusedIn({ refused, refusedWhileBanned }: TimeUsage): number {
  return refused + refusedWhileBanned;
}

function Cell({ of, most }: { readonly of: TimeUsage | undefined; readonly most: number }) {
  if (of === undefined || refusedIn(of) === 0) return <td />;
  const { start, refused, refusedWhileBanned } = of;
  const colour = refusedWhileBanned > refused ? "banned" : "refused";
  const says = `${start.slice(11, 16)}: ${formatNumber(refused)} refused by a limit, ${counted(refusedWhileBanned, "request")} blocked by bans`;
  return (
    <td class={`${colour} heat-${Math.ceil((STEPS * refusedIn(of)) / most)}`} title={says}>
      <span class="sr-only">{formatNumber(refusedIn(of))}</span>
    </td>
  );
}

type Day = v.InferOutput<typeof dayAnswer>;

type Chosen = { readonly day?: Day; readonly problem?: string | undefined };

/** Nothing is asked before somebody has chosen a day. */
export async function chosenDay(c: ConsoleContext, of: keyof typeof dayCalls, id: string): Promise<Chosen> {
  const at = c.req.query("day");
  if (!at) return {};
  try {
    return { day: await ask(c, dayCalls[of], { at }, id) };
  } catch (thrown) {
    const { problems, message } = failureOf(thrown, "day", {}, []);
    return { problem: problems[0]?.reason ?? message };
  }
}

type Props = {
  readonly c: ConsoleContext;
  /** The page of the key or the customer. */
  readonly path: string;
  readonly hours: readonly TimeUsage[];
  readonly chosen: Chosen;
  readonly ofKey?: true;
};

export function Refusals({ c, path, hours, chosen: { day, problem }, ofKey }: Props) {
  const at = c.req.query("day");
  const dayAddress = (each: string) => `${addressOf(path, { day: each })}#day`;
  const caption = `Refused requests of the last ${DAYS} days, by hour`;
  return (
    <section>
      <h2 id="refused">When requests were refused</h2>
      <HeatMap caption={caption} rows={hours} dayAddress={dayAddress} />
      <h2 id="day">What happened on a day</h2>
      <form method="get" action={`${path}#day`} class="row">
        <Field
          {...{ name: "day", label: "Day or time (UTC)", value: at, problem }}
          attributes={{ placeholder: "yesterday 14:00" }}
        />
        <Submit>Show</Submit>
      </form>
      <Presets
        links={[
          ["Today", dayAddress("today"), at === "today"],
          ["Yesterday", dayAddress("yesterday"), at === "yesterday"],
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
