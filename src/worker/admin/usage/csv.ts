/** `?format=csv` on the usage calls: the same answer as a table. */
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../../context.ts";
import { type CsvCell, toCsv } from "../../csv.ts";
import { urlOf } from "../../request-url.ts";
import type { HourUsage, UsageOfDay, UsageOfKey } from "./service.ts";

type Table = {
  readonly file: string;
  readonly rows: readonly (readonly CsvCell[])[];
  /** The value of `after` for the next page. */
  readonly next?: string | null;
};

/** As JSON. */
type DayBody = Omit<UsageOfDay, "next"> & { readonly next: string | null };

/** Runs after the query is checked. The route answers with JSON, so that clients are typed by one shape. */
function asCsv<Body>(tableOf: (body: Body, query: Record<string, string>) => Table) {
  return createMiddleware<AppEnv>(async (c, next) => {
    await next();
    const query = c.req.query();
    if (query.format !== "csv" || !c.res.ok) return;
    // The handler of the same route has written this body.
    const { file, rows, next: after } = tableOf((await c.res.json()) as Body, query);
    const headers = new Headers(c.res.headers);
    headers.set("Content-Type", "text/csv; charset=utf-8; header=present");
    headers.set("Content-Disposition", `attachment; filename="${file}.csv"`);
    if (after) headers.set("Link", `<${pathWith(urlOf(c.req.raw), "after", after)}>; rel="next"`);
    c.res = undefined; // Hono would merge the old headers into the new response
    c.res = new Response(toCsv(rows), { headers });
  });
}

function pathWith(url: URL, parameter: string, value: string): string {
  url.searchParams.set(parameter, value);
  return `${url.pathname}${url.search}`;
}

/** One row for each key, or with `by=hour` for each hour: of all keys, then of each plan. */
export const dayUsageAsCsv = asCsv<DayBody>((usage, { by }) => ({
  file: `usage-${usage.day}${by === "hour" ? "-by-hour" : ""}`,
  rows: by === "hour" ? rowsByHour(usage) : rowsByKey(usage),
  next: by === "hour" ? null : usage.next,
}));

/** One row for each day, or for each hour if hours were asked for. */
export const keyUsageAsCsv = asCsv<UsageOfKey>(({ keyId, days, hours }, query) => {
  const ofHours = Number(query.hours ?? 0) > 0;
  return {
    file: `usage-${keyId}${ofHours ? "-by-hour" : ""}`,
    rows: ofHours
      ? [["hour", ...FIGURES], ...hours.map(hourRow)]
      : [["day", ...FIGURES], ...days.map((each) => [each.day, ...figures(each)])],
  };
});

const FIGURES = ["admitted", "refused", "refusedWhileBanned"] as const;

function figures(usage: Record<(typeof FIGURES)[number], number>): number[] {
  return FIGURES.map((name) => usage[name]);
}

function hourRow(usage: HourUsage): CsvCell[] {
  return [usage.hour, ...figures(usage)];
}

function rowsByKey({ day, keys }: DayBody): CsvCell[][] {
  return [
    [
      ...["day", "keyId", "keyName", "ownerName", "ownerEmail", "plan"],
      ...["requestsPerMinute", "requestsPerDay", "percent", ...FIGURES],
    ],
    ...keys.map((key) => [
      day,
      key.keyId,
      key.keyName,
      key.ownerName,
      key.ownerEmail,
      key.plan,
      key.limits.requestsPerMinute,
      key.limits.requestsPerDay,
      key.percent,
      ...figures(key),
    ]),
  ];
}

function rowsByHour({ total, plans }: DayBody): CsvCell[][] {
  return [
    ["plan", "hour", ...FIGURES],
    ...[{ ...total, plan: "all" }, ...plans].flatMap(({ plan, hours }) =>
      hours.map((usage) => [plan, ...hourRow(usage)]),
    ),
  ];
}
