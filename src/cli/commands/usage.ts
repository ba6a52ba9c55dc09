/** `usage` and `keys usage`: the usage of all keys on one day, and of one key by day or hour. */
import { type Command, Option } from "commander";
import type { InferResponseType } from "hono/client";
import { USAGE_SORTS, type UsageSort } from "../../worker/db/values.ts";
import type { AdminClient } from "../admin-client.ts";
import { count, given } from "../arguments.ts";
import { bar, table } from "../output.ts";
import { bodyOf, type Column, MAX_PAGE_ROWS, note, type Session, show, showList } from "../session.ts";

type DayUsage = InferResponseType<AdminClient["usage"]["$get"]>;
type Figures = { readonly admitted: number; readonly refused: number; readonly refusedWhileBanned: number };

const COLUMNS: readonly Column<DayUsage["keys"][number]>[] = [
  [null, "name", (key) => key.keyName],
  [null, "owner", (key) => key.ownerName ?? key.ownerEmail],
  [null, "percent", (key) => key.percent],
  [null, "admitted", (key) => key.admitted],
  [null, "refused", (key) => key.refused],
  [null, "while banned", (key) => key.refusedWhileBanned],
  [null, "plan", (key) => key.plan],
  [null, "a day", (key) => key.limits.requestsPerDay],
  [null, "key", (key) => key.keyId],
];

type Options = { day?: string; sort: UsageSort; by: "key" | "hour"; limit: number; after?: string };

export function addUsageCommand(program: Command, session: () => Session): void {
  program
    .command("usage")
    .description("the usage of all keys on one day")
    .option("--day <day>", "a UTC day, as in 2026-11-21; default: today")
    .addOption(new Option("--sort <by>", "the highest first").choices(USAGE_SORTS).default("admitted"))
    .addOption(
      new Option("--by <what>", "hour: of all keys and of each plan").choices(["key", "hour"]).default("key"),
    )
    .option("--limit <n>", "the maximum number of keys to show", count, MAX_PAGE_ROWS)
    .option("--after <next>", "go on after a list that ended with `More:`")
    .action(({ by, limit, after, ...filter }: Options) => {
      const { client, csv } = session();
      const query = { ...filter, by, limit: String(Math.min(limit, MAX_PAGE_ROWS)), ...given({ after }) };
      if (csv) return printCsv(session(), client.usage.$get({ query: { ...query, format: "csv" } }));
      if (by === "hour") return show(session(), client.usage.$get({ query }), describeHours);
      return showList(session(), {
        name: "keys",
        columns: COLUMNS,
        range: { limit, ...given({ after }) },
        fetchPage: (range) => bodyOf(client.usage.$get({ query: { ...filter, ...range } })),
        heading,
      });
    });
}

/** By hour if hours are asked for, otherwise by day. */
export function showKeyUsage(
  session: Session,
  id: string,
  query: { readonly days: string; readonly hours?: string },
): Promise<void> {
  const get = session.client.keys[":id"].usage.$get;
  if (session.csv) return printCsv(session, get({ param: { id }, query: { ...query, format: "csv" } }));
  return show(session, get({ param: { id }, query }), ({ days, hours }) =>
    query.hours === undefined
      ? chart(
          "day",
          days.map((each) => [each.day, each]),
        )
      : chart(
          "hour",
          hours.map((each) => [each.hour, each]),
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

function heading({ day, asOf, total }: DayUsage): string {
  const { keyCount, admitted, refused, refusedWhileBanned } = total;
  return `${day}, as of ${asOf}: keys ${keyCount}, admitted ${admitted}, refused ${refused}, while banned ${refusedWhileBanned}`;
}

function describeHours(usage: DayUsage): string {
  const charts = [{ ...usage.total, plan: "all" }, ...usage.plans].map(
    ({ plan, hours }) =>
      `${plan}\n${chart(
        "hour",
        hours.map((each) => [each.hour, each]),
      )}`,
  );
  return [heading(usage), ...charts].join("\n\n");
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
