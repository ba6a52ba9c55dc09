/** `?format=csv`: the rows of an answer as a table. */
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../../context.ts";
import { type CsvCell, toCsv } from "../../csv.ts";
import { urlOf } from "../../request-url.ts";

type Table = {
  readonly file: string;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The value of `after` for the next page. */
  readonly next?: string | null;
};

/** Runs after the query is checked. The route answers with JSON, so that clients are typed by one shape. */
export function asCsv<Body>(tableOf: (body: Body) => Table) {
  return createMiddleware<AppEnv>(async (c, next) => {
    await next();
    if (c.req.query("format") !== "csv" || !c.res.ok) return;
    // The handler of the same route has written this body.
    const { file, columns, rows, next: after } = tableOf((await c.res.json()) as Body);
    const headers = new Headers(c.res.headers);
    headers.set("Content-Type", "text/csv; charset=utf-8; header=present");
    headers.set("Content-Disposition", `attachment; filename="${file}.csv"`);
    if (after) headers.set("Link", `<${pathWith(urlOf(c.req.raw), "after", after)}>; rel="next"`);
    const table = [columns, ...rows.map((row) => columns.map((name) => cellOf(row[name])))];
    c.res = undefined; // Hono would merge the old headers into the new response
    c.res = new Response(toCsv(table), { headers });
  });
}

function pathWith(url: URL, parameter: string, value: string): string {
  url.searchParams.set(parameter, value);
  return `${url.pathname}${url.search}`;
}

function cellOf(value: unknown): CsvCell {
  if (Array.isArray(value)) return value.join(" ");
  return typeof value === "number" || value === null ? value : String(value);
}
