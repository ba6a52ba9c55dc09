/** Answers `?format=csv` with all rows of a list as a table. */
import type { Context } from "hono";
import type * as v from "valibot";
import type { AppEnv } from "../../context.ts";
import { type CsvCell, toCsv } from "../../text/csv.ts";

/** Excel reads a file without a BOM in the machine's own encoding. */
const BOM = "\ufeff";

export type CsvTable = {
  readonly file: string;
  /** Paths of members of the answer's rows, as in `limits.requestsPerDay`. */
  readonly columns: readonly string[];
  readonly rows: readonly object[];
  /** Where the next page begins. */
  readonly next?: string | null;
};

/** Returns a column for each member of rows with this schema. */
export function columnsOf(schema: v.GenericSchema, path = ""): string[] {
  // A nullable schema wraps the schema of its value. Only the schema of an object has entries.
  const { wrapped = schema }: { readonly wrapped?: object } = Object(schema);
  const { entries }: { readonly entries?: Readonly<Record<string, v.GenericSchema>> } = Object(wrapped);
  if (entries === undefined) return [path];
  const pathOf = (name: string) => (path === "" ? name : `${path}.${name}`);
  return Object.entries(entries).flatMap(([name, member]) => columnsOf(member, pathOf(name)));
}

/** Names a file of usage by the first and the last day of its range, whose end is not part of it. */
export function fileOfRange(
  name: string,
  { from, to }: { readonly from: string; readonly to: string },
): string {
  const last = new Date(Date.parse(to) - 1).toISOString();
  return `${name}-${from.slice(0, 10)}-to-${last.slice(0, 10)}`;
}

/** Makes the table of a list. The member of the answer that has the rows names the file. */
export function tableOf<Rows extends string>(rows: Rows, schema: v.GenericSchema, file: string = rows) {
  type Page = Readonly<Record<Rows, readonly object[]>> & Pick<CsvTable, "next">;
  return ({ [rows]: shown, next }: Page): CsvTable => ({
    ...{ file, columns: columnsOf(schema), rows: shown },
    ...(next !== undefined && { next }),
  });
}

/** Answers with a whole list, page by page, because a list has any length. */
export function csvFile(
  c: Context<AppEnv>,
  first: CsvTable,
  pageAt: (after: string) => Promise<CsvTable>,
): Response {
  let { next } = first;
  const text = new ReadableStream<string>({
    start: (controller) => controller.enqueue(BOM + toCsv([first.columns]) + rowsOf(first)),
    async pull(controller) {
      if (!next) return controller.close();
      const page = await pageAt(next);
      next = page.next;
      controller.enqueue(rowsOf(page));
    },
  });
  c.header("Content-Type", "text/csv; charset=utf-8; header=present");
  c.header("Content-Disposition", `attachment; filename="${first.file}.csv"`);
  return c.body(text.pipeThrough(new TextEncoderStream()));
}

function rowsOf({ columns, rows }: CsvTable): string {
  return toCsv(rows.map((row) => columns.map((path) => cellOf(valueAt(row, path.split("."))))));
}

/** The path of a list's members leads to a list of values. */
function valueAt(value: unknown, [name, ...others]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (Array.isArray(value)) return value.map((each) => valueAt(each, [name, ...others]));
  return valueAt(Object(value)[name], others);
}

function cellOf(value: unknown): CsvCell {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.join(" ");
  if (typeof value === "number") return value;
  return typeof value === "object" ? value && JSON.stringify(value) : String(value);
}
