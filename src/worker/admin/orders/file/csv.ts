/** Reads the rows of CSV. Pure. */
import { repeated } from "../../../text/text.ts";
import { LEFT_OUT, ORDER_MEMBERS } from "../loaded-order.ts";
import { type FileProblem, INVALID, type Line, NOT_TEXT } from "./text.ts";

/** The cells of a row by the members that the header names, or why there are none. */
export type CsvRow = Line &
  ({ readonly members: Readonly<Record<string, string>> } | { readonly reason: string });

/** A quotation mark that nothing closes must not take the rest of the file into its row. */
const MAX_LINES_PER_ROW = 20;

/** The first row with a value is the header. If the header is wrong, no other row is read. */
export async function* csvRowsOf(
  lines: AsyncIterable<Line | FileProblem>,
): AsyncGenerator<CsvRow | FileProblem, void> {
  const source = lines[Symbol.asyncIterator]();
  let ahead: readonly Line[] = [];
  let header: { readonly delimiter: string; readonly names: readonly string[] } | undefined;
  for (;;) {
    const row: Line[] = [];
    let isOpen = false;
    do {
      const next = ahead[0] ?? (await source.next()).value;
      ahead = ahead.slice(1);
      if (!next) break;
      if ("problem" in next) return yield next;
      row.push(next);
      isOpen = isOpen !== hasOpenQuote(next.text);
    } while (isOpen && row.length < MAX_LINES_PER_ROW);
    const [first, ...others] = row;
    if (first === undefined) return;
    const text = row.map((each) => each.text).join("\n");
    const delimiter: string = header?.delimiter ?? /[,;\t|]/.exec(text)?.[0] ?? ",";
    const { line } = first;
    try {
      const cells = cellsOf(text, delimiter);
      if (cells.every((cell) => cell === "")) continue;
      if (header) yield { line, text, members: membersIn(cells, header.names) };
      header ??= { delimiter, names: namesIn(text, cells) };
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      if (header === undefined) return yield { problem: `line ${line}: ${reason}` };
      ahead = [...others, ...ahead];
      yield { ...first, reason };
    }
  }
}

function hasOpenQuote(text: string): boolean {
  return text.split('"').length % 2 === 0;
}

/** Splits a row into cells, without the blanks around them. Throws a SyntaxError. */
function cellsOf(row: string, delimiter: string): readonly string[] {
  const cells: string[] = [];
  let cell = "";
  let isOpen = false;
  for (const piece of row.split(delimiter)) {
    cell = isOpen ? cell + delimiter + piece : piece;
    isOpen = isOpen !== hasOpenQuote(piece);
    if (!isOpen) cells.push(unquoted(trimmed(cell)));
  }
  if (isOpen) throw new SyntaxError("has a quotation mark that is not closed");
  return cells;
}

function unquoted(cell: string): string {
  if (!cell.includes('"')) return cell;
  const inner = cell.slice(1, -1);
  const isQuoted = cell.length > 1 && cell.startsWith('"') && cell.endsWith('"');
  if (isQuoted && !inner.replaceAll('""', "").includes('"')) return trimmed(inner.replaceAll('""', '"'));
  throw new SyntaxError("has a quotation mark within a cell");
}

const BLANKS = [" ", "\t", "\n"];

/** `trim` would take U+00A0 too, which wrong numbers have. A regular expression is slow on long cells. */
function trimmed(cell: string): string {
  let start = 0;
  let end = cell.length;
  while (start < end && BLANKS.includes(cell.charAt(start))) start++;
  while (start < end && BLANKS.includes(cell.charAt(end - 1))) end--;
  return cell.slice(start, end);
}

/** Reads the header. A spreadsheet may leave empty columns without a name. Throws a SyntaxError. */
function namesIn(text: string, cells: readonly string[]): readonly string[] {
  if (text.includes(INVALID)) throw new SyntaxError(NOT_TEXT);
  const names = cells.map((cell) => (cell === "" ? "" : memberNamed(cell)));
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) < i);
  if (twice !== undefined) throw new SyntaxError(`has the column ${twice} twice`);
  if (!names.includes("id")) throw new SyntaxError("has no column id");
  return names;
}

/** Spreadsheets have `Pet ID` or `pet_id` for `petId`. */
function memberNamed(cell: string): string {
  const folded = cell.toLowerCase().replace(/[\s_.-]/g, "");
  const name = [...ORDER_MEMBERS, ...LEFT_OUT].find((member) => member.toLowerCase() === folded);
  if (name !== undefined) return name;
  const shown = JSON.stringify(repeated(cell, 60));
  throw new SyntaxError(
    `is neither JSON nor a header of CSV: ${shown} is none of ${ORDER_MEMBERS.join(", ")}`,
  );
}

/** Throws a SyntaxError. */
function membersIn(cells: readonly string[], names: readonly string[]): Readonly<Record<string, string>> {
  const counts = `has ${cells.length} cells, and the header has ${names.length}`;
  if (cells.length !== names.length) throw new SyntaxError(counts);
  if (cells.some((cell, i) => cell !== "" && names[i] === ""))
    throw new SyntaxError("has a value in a column without a name");
  const members = names.map((name, i) => [name, cells[i] ?? ""] as const);
  return Object.fromEntries(members.filter(([name]) => name !== ""));
}
