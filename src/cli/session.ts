/** One run of the command line: its connection to the service, and how it prints answers. */
import { toCsv } from "../worker/csv.ts";
import type { Access } from "./access.ts";
import type { AdminClient } from "./admin-client.ts";
import type { CliIo } from "./io.ts";
import { describe, parseJson, printable, table, toJson } from "./output.ts";

export type Session = {
  readonly client: AdminClient;
  readonly access: Access;
  /** Print answers exactly as they came. */
  readonly json: boolean;
  /** Print lists as CSV. */
  readonly csv: boolean;
  readonly io: CliIo;
};

/** What the typed client answers: a response whose JSON has this type. */
export type Answer<Body> = Promise<{ text(): Promise<string>; json(): Promise<Body> }>;

/** An answer with JSON that SQLite wrote, as orders have it: the typed client does not know its type. */
export function typed<Body>(answer: Answer<unknown>): Answer<Body> {
  return answer as Answer<Body>; // `Body` says what the route's SQL selects
}

export function print({ io }: Session, text: string): void {
  io.stdout.write(`${printable(text)}\n`);
}

/** A note, which is no part of the data. */
export function note({ io }: Session, text: string): void {
  io.stderr.write(`${printable(text)}\n`);
}

export async function bodyOf<Body>(answer: Answer<Body>): Promise<Body> {
  return parseJson(await (await answer).text()) as Body; // as the typed client says
}

/** Prints an answer: unchanged with `--json`, otherwise as `render` formats it. */
export async function show<Body extends object>(
  session: Session,
  answer: Answer<Body>,
  render: (body: Body) => string = describe,
): Promise<void> {
  const text = await (await answer).text();
  if (session.json) session.io.stdout.write(`${text}\n`);
  else print(session, render(parseJson(text) as Body)); // as the typed client says
}

/** A column of a list: its name in CSV and its label in the table, each null where it is left out. */
export type Column<Row> = readonly [
  csv: string | null,
  label: string | null,
  cellOf: (row: Row) => string | number | bigint | null,
];

/** A list that is one page has no `next`. */
type Page<Name extends string, Row> = { readonly next?: string | number | null } & {
  readonly [name in Name]: readonly Row[];
};

type List<Name extends string, Row, Body extends Page<Name, Row>> = {
  /** The member of the answer that has the rows. */
  readonly name: Name;
  readonly columns: readonly Column<Row>[];
  /** How many rows to show, and where to begin. */
  readonly range: { readonly limit: number; readonly after?: string };
  readonly fetchPage: (range: { limit: string; after?: string }) => Promise<Body>;
  /** What to know of the table, from its first page. */
  readonly heading?: (page: Body) => string;
};

export async function showList<Name extends string, Row, Body extends Page<Name, Row>>(
  session: Session,
  { name, columns, range, fetchPage, heading }: List<Name, Row, Body>,
): Promise<void> {
  const pages = await fetchPages(name, range, fetchPage);
  const [first] = pages;
  const rows = pages.flatMap((page) => page[name]);
  const last = pages.at(-1);
  if (session.json) {
    session.io.stdout.write(`${toJson({ ...last, [name]: rows })}\n`);
    return;
  }
  if (session.csv) {
    const shown = columns.filter(([csv]) => csv !== null);
    const cells = rows.map((row) => shown.map(([, , cellOf]) => cellOf(row)));
    session.io.stdout.write(toCsv([shown.map(([csv]) => csv), ...cells]));
  } else {
    if (heading !== undefined && first !== undefined) print(session, heading(first));
    const shown = columns.flatMap(([, label, cellOf]) => (label === null ? [] : [{ label, cellOf }]));
    const cells = rows.map((row) => shown.map(({ cellOf }) => cellOf(row)));
    print(
      session,
      table(
        shown.map(({ label }) => label),
        cells,
      ),
    );
  }
  if (last?.next) note(session, `More: --after ${last.next}`);
}

/** The largest page that the service has. */
export const MAX_PAGE_ROWS = 500;

/** More rows than one page has take several. */
async function fetchPages<Name extends string, Row, Body extends Page<Name, Row>>(
  name: Name,
  { limit, after }: { readonly limit: number; readonly after?: string },
  fetchPage: (range: { limit: string; after?: string }) => Promise<Body>,
): Promise<Body[]> {
  const pages: Body[] = [];
  let from = after;
  for (let missing = limit; missing > 0; ) {
    const range = {
      limit: String(Math.min(missing, MAX_PAGE_ROWS)),
      ...(from === undefined ? {} : { after: from }),
    };
    const page = await fetchPage(range);
    pages.push(page);
    if (!page.next) break;
    missing -= page[name].length;
    from = String(page.next);
  }
  return pages;
}
