/** Refusals of each hour, a row for each day: where the colour is, requests were refused. It is a table for everybody. */
import type { TimeUsage } from "../../admin/usage/schema.ts";
import { counted, formatDay, formatNumber } from "../../text/format.ts";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const STEPS = 4;
/** How many days the page of a key and of a customer shows. */
export const HEAT_DAYS = 14;

type Props = {
  readonly caption: string;
  /** Every hour of the days, oldest first. */
  readonly rows: readonly TimeUsage[];
  /** The address of what happened on a day. */
  readonly dayAddress: (day: string) => string;
};

export function HeatMap({ caption, rows, dayAddress }: Props) {
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
