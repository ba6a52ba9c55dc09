/** Requests over time: a table, which a script draws as a chart. */
import type { Bucket } from "../admin/usage/sql.ts";
import { DAY_SECONDS, dayName, rfc3339 } from "../time.ts";
import { formatNumber, formatTime } from "./format.ts";
import { Table } from "./ui.tsx";

type Props = {
  readonly title: string;
  /** Those without requests may be left out. */
  readonly buckets: readonly Bucket[];
  readonly bucketSeconds: number;
  /** Unix seconds of the range; by default from the first bucket to the last. */
  readonly fromSeconds?: number;
  readonly toSeconds?: number;
};

export function UsageChart({ title, buckets, bucketSeconds, ...range }: Props) {
  const from = range.fromSeconds ?? buckets[0]?.start ?? 0;
  const to = range.toSeconds ?? (buckets.at(-1)?.start ?? 0) + bucketSeconds;
  const used = buckets.filter((each) => each.admitted + each.refused + each.refusedWhileBanned > 0);
  const nameOf = (start: number) =>
    bucketSeconds >= DAY_SECONDS ? dayName(start) : formatTime(rfc3339(start));
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div
        class="plot"
        aria-hidden="true"
        data-from={from}
        data-to={to}
        data-step={bucketSeconds}
        data-points={JSON.stringify(
          used.map((each) => [each.start, each.admitted, each.refused, each.refusedWhileBanned]),
        )}
      />
      <ul class="legend" aria-hidden="true">
        <li class="admitted">Admitted</li>
        <li class="refused">Refused by a limit</li>
        <li class="banned">Blocked by bans</li>
      </ul>
      <details>
        <summary>As a table</summary>
        <Table
          caption={title}
          columns={[
            { name: "Time (UTC)", cell: ({ start }) => nameOf(start) },
            { name: "Admitted", isNumber: true, cell: ({ admitted }) => formatNumber(admitted) },
            { name: "Refused", isNumber: true, cell: ({ refused }) => formatNumber(refused) },
            {
              name: "Blocked by bans",
              isNumber: true,
              cell: ({ refusedWhileBanned }) => formatNumber(refusedWhileBanned),
            },
          ]}
          rows={used.toReversed()}
          empty="No requests."
        />
      </details>
    </figure>
  );
}
