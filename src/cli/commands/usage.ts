/** `usage` and `keys usage`: the usage of a range by key, owner, plan, hour or day, and of one key by day or hour. */
import { type Command, Option } from "commander";
import type { InferResponseType } from "hono/client";
import { USAGE_GROUPS, USAGE_PERIODS, USAGE_SORTS, type UsageSort } from "../../worker/db/values.ts";
import type { AdminClient } from "../admin-client.ts";
import { count, given } from "../arguments.ts";
import { bar, table } from "../output.ts";
import { bodyOf, type Column, MAX_PAGE_ROWS, note, type Session, show, showList } from "../session.ts";

type Usage = InferResponseType<AdminClient["usage"]["$get"]>;
type Row = Usage["rows"][number];
type Figures = Pick<Row, "admitted" | "refused" | "refusedWhileBanned">;

const FIGURES: readonly Column<Row>[] = [
  [null, "admitted", (row) => row.admitted],
  [null, "refused", (row) => row.refused],
  [null, "while banned", (row) => row.refusedWhileBanned],
];
const COLUMNS: Readonly<Record<Usage["by"], readonly Column<Row>[]>> = {
  hour: [[null, "hour", (row) => ("start" in row ? row.start : null)], ...FIGURES],
  day: [[null, "day", (row) => ("start" in row ? row.start : null)], ...FIGURES],
  owner: [[null, "owner", (row) => ("owner" in row ? row.owner : null)], ...FIGURES],
  plan: [[null, "plan", (row) => ("plan" in row ? row.plan : null)], ...FIGURES],
  key: [
    [null, "name", (row) => ("keyName" in row ? row.keyName : null)],
    [null, "owner", (row) => ("keyName" in row ? (row.ownerName ?? row.ownerEmail) : null)],
    [null, "percent", (row) => ("percent" in row ? row.percent : null)],
    ...FIGURES,
    [null, "plan", (row) => ("plan" in row ? row.plan : null)],
    [null, "a day", (row) => ("limits" in row ? row.limits.requestsPerDay : null)],
    [null, "key", (row) => ("keyId" in row ? row.keyId : null)],
  ],
};

type Options = {
  from?: string;
  to?: string;
  sort: UsageSort;
  by: Usage["by"];
  limit: number;
  after?: string;
};

export function addUsageCommand(program: Command, session: () => Session): void {
  program
    .command("usage")
    .description("the usage of all keys")
    .option("--from <time>", "a date, a date-time, or 36h or 7d ago; default: today")
    .option("--to <time>", "before this time; default: now")
    .addOption(new Option("--sort <by>", "the highest first").choices(USAGE_SORTS).default("admitted"))
    .addOption(
      new Option("--by <what>", "what a row is of")
        .choices([...USAGE_GROUPS, ...USAGE_PERIODS])
        .default("key"),
    )
    .option("--limit <n>", "the maximum number of rows to show", count, MAX_PAGE_ROWS)
    .option("--after <next>", "go on after a list that ended with `More:`")
    .action(({ limit, after, ...filter }: Options) => {
      const { client, csv } = session();
      const query = { ...filter, limit: String(Math.min(limit, MAX_PAGE_ROWS)), ...given({ after }) };
      if (csv) return printCsv(session(), client.usage.$get({ query: { ...query, format: "csv" } }));
      return showList<"rows", Row, Usage>(session(), {
        name: "rows",
        columns: COLUMNS[filter.by],
        range: { limit, ...given({ after }) },
        fetchPage: (range) => bodyOf(client.usage.$get({ query: { ...filter, ...range } })),
        heading,
      });
    });
}

export function showKeyUsage(
  session: Session,
  id: string,
  query: { readonly by: "day" | "hour"; readonly from: string },
): Promise<void> {
  const get = session.client.keys[":id"].usage.$get;
  if (session.csv) return printCsv(session, get({ param: { id }, query: { ...query, format: "csv" } }));
  return show(session, get({ param: { id }, query }), ({ by, rows }) =>
    chart(
      by,
      rows.map((row) => [row.start, row]),
    ),
  );
}

type CsvAnswer = Promise<{ text(): Promise<string>; readonly headers: { get(name: string): string | null } }>;

/** The service's own CSV. Its `Link` header has the next page. */
async function printCsv(session: Session, answer: CsvAnswer): Promise<void> {
  const { headers, text } = await answer.then(async (response) => ({
    headers: response.headers,
    text: await response.text(),
  }));
  session.io.stdout.write(text);
  const next = /[?&]after=([^&>]+)/.exec(headers.get("Link") ?? "")?.[1];
  if (next !== undefined) note(session, `More: --after ${decodeURIComponent(next)}`);
}

function heading({ from, to, asOf, total }: Usage): string {
  const { keyCount, admitted, refused, refusedWhileBanned } = total;
  return `${from} to ${to}, as of ${asOf}: keys ${keyCount}, admitted ${admitted}, refused ${refused}, while banned ${refusedWhileBanned}`;
}

function chart(label: string, rows: readonly (readonly [time: string, figures: Figures])[]): string {
  const max = rows.reduce((most, [, { admitted }]) => Math.max(most, admitted), 0);
  return table(
    [label, "admitted", "refused", "while banned", ""],
    rows.map(([time, { admitted, refused, refusedWhileBanned }]) => [
      time,
      admitted,
      refused,
      refusedWhileBanned,
      bar(admitted, max),
    ]),
  );
}
