/** `?format=csv`: the rows of an answer as a table. */
import type { Context } from "hono";
import type { AppEnv } from "../../context.ts";
import { type CsvCell, toCsv } from "../../csv.ts";
import { urlOf } from "../../request-url.ts";

/** A page's link to a CSV gives a file with all rows. */
export const MAX_CSV_ROWS = 100_000;

/** Without a BOM, Excel takes the file for one in the machine's own encoding. */
const BOM = "\ufeff";

export type CsvTable = {
  readonly file: string;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The value of `after` for the next page. */
  readonly next?: string | null;
};

export function csvAnswer(c: Context<AppEnv>, { file, columns, rows, next }: CsvTable): Response {
  c.header("Content-Type", "text/csv; charset=utf-8; header=present");
  c.header("Content-Disposition", `attachment; filename="${file}.csv"`);
  if (next) c.header("Link", `<${pathWith(urlOf(c.req.raw), "after", next)}>; rel="next"`);
  return c.body(BOM + toCsv([columns, ...rows.map((row) => columns.map((name) => cellOf(row[name])))]));
}

function pathWith(url: URL, parameter: string, value: string): string {
  url.searchParams.set(parameter, value);
  return `${url.pathname}${url.search}`;
}

function cellOf(value: unknown): CsvCell {
  if (Array.isArray(value)) return value.join(" ");
  return typeof value === "number" || value === null ? value : String(value);
}
