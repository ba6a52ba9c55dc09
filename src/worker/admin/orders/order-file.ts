/**
 * Reads a file of orders and loads it in batches, for the command line and the console. The first character
 * tells the format: `[` is a JSON array, `{` is NDJSON, anything else is CSV with a header. Pure.
 */
import { describeProblems } from "../../text/check-schema.ts";
import {
  type CheckOrder,
  type LoadedOrder,
  MAX_FILE_NAME_CHARS,
  ORDER_MEMBERS,
  orderChecker,
  parseDigits,
} from "./loaded-order.ts";
import type { LoadFigures } from "./schema.ts";

/** `line` counts from 1: lines of the file, or elements of its array. */
type Line = { readonly line: number; readonly text: string };
export type RefusedLine = Line & { readonly reason: string };
export type FileLine = { readonly line: number; readonly order: LoadedOrder } | RefusedLine;

/** An array is held as a whole: some 100,000 orders, in 40 MB. A line of NDJSON or CSV has the same bound. */
const MAX_CHARS = 16_000_000;
/** A quotation mark that nothing closes must not take the rest of the file into its row. */
const MAX_LINES_PER_ROW = 20;

/** Reads the orders of a file. Lines and rows without a value are left out. */
export async function* readOrders(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FileLine, void> {
  const lines = linesOf(textOf(bytes));
  for await (const first of lines) {
    const [sign] = first.text.trimStart();
    if (sign === undefined) continue;
    const all = startingWith(first, lines);
    if (sign === "[") return yield* readArray(all);
    return yield* sign === "{" ? readJsonLines(all) : readRows(all);
  }
}

/** Reads the lines that are not empty, without the blanks around their texts. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  for await (const { text } of linesOf(textOf(bytes))) if (text.trim() !== "") yield text.trim();
}

async function* startingWith(first: Line, others: AsyncIterable<Line>): AsyncGenerator<Line, void> {
  yield first;
  yield* others;
}

/** Wrong bytes become U+FFFD. No order has this character, so `read` refuses its line. */
async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let decoder: TextDecoder | undefined;
  let start = new Uint8Array();
  for await (const chunk of bytes) {
    const next = start.length === 0 ? chunk : new Uint8Array([...start, ...chunk]);
    start = new Uint8Array();
    if (decoder === undefined && next.length < 2) {
      start = new Uint8Array(next);
      continue;
    }
    decoder ??= new TextDecoder(encodingOf(next));
    yield decoder.decode(next, { stream: true });
  }
  yield (decoder ?? new TextDecoder()).decode(start);
}

/** A file begins with a character of ASCII, so a zero byte beside it means UTF-16 without a mark. */
function encodingOf([first, second]: Uint8Array): string {
  if ((first === 0xfe && second === 0xff) || first === 0) return "utf-16be";
  return (first === 0xff && second === 0xfe) || second === 0 ? "utf-16le" : "utf-8";
}

/** Ends after a line that is too long. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<Line, void> {
  let line = 1;
  let pending = "";
  let lineEnd = ""; // a CR whose LF may be in the next chunk
  for await (const chunk of chunks) {
    const text = lineEnd + chunk;
    lineEnd = text.endsWith("\r") ? "\r" : "";
    const [first = "", ...others] = text.slice(0, text.length - lineEnd.length).split(/\r\n|\r|\n/);
    const texts = [pending + first, ...others];
    pending = texts.pop() ?? "";
    for (const each of texts) yield { line: line++, text: each };
    if (pending.length > MAX_CHARS) break;
  }
  yield { line, text: pending };
}

async function* readArray(lines: AsyncIterable<Line>): AsyncGenerator<FileLine, void> {
  let array = "";
  for await (const each of lines) {
    if (each.text.includes(INVALID)) return yield { ...each, reason: NOT_TEXT };
    array += `${each.text}\n`;
    if (array.length > MAX_CHARS) return yield { line: 1, text: "", reason: ARRAY_TOO_LONG };
  }
  const check = orderChecker("element");
  const whole = { line: 1, text: "" };
  const elements = attempt(whole, () => parseDigits(array) as readonly unknown[]); // it begins with a bracket
  if ("reason" in elements) return yield elements;
  for (const [i, value] of elements.entries()) {
    yield read({ line: i + 1, text: JSON.stringify(value) }, () => value, check);
  }
}

async function* readJsonLines(lines: AsyncIterable<Line>): AsyncGenerator<FileLine, void> {
  const check = orderChecker("line");
  for await (const line of lines) {
    if (line.text.trim() !== "") yield read(line, () => parseDigits(line.text), check);
  }
}

/** The first row with a value is the header. If the header is wrong, no other row is read. */
async function* readRows(lines: AsyncIterable<Line>): AsyncGenerator<FileLine, void> {
  const check = orderChecker("line");
  let header: readonly string[] | undefined;
  for await (const row of rowsOf(lines)) {
    if ("cells" in row && row.cells.every((cell) => cell.trim() === "")) continue;
    if (header === undefined) {
      const names = "cells" in row ? attempt(row, () => namesIn(row)) : row;
      if ("reason" in names) return yield names;
      header = names;
    } else {
      const names = header;
      yield "cells" in row ? read(row, () => orderIn(names, row.cells), check) : row;
    }
  }
}

type Row = Line & { readonly cells: readonly string[] };

/** A quoted cell may have line breaks. If the lines then make no row, the first line is refused alone. */
async function* rowsOf(lines: AsyncIterable<Line>): AsyncGenerator<Row | RefusedLine, void> {
  const source = lines[Symbol.asyncIterator]();
  let ahead: readonly Line[] = [];
  let delimiter: string | undefined;
  for (;;) {
    const row: Line[] = [];
    let isOpen = false;
    do {
      const next = ahead[0] ?? (await source.next()).value;
      ahead = ahead.slice(1);
      if (!next) break;
      row.push(next);
      isOpen = isOpen !== hasOpenQuote(next.text);
    } while (isOpen && row.length < MAX_LINES_PER_ROW);
    const [first, ...others] = row;
    if (first === undefined) return;
    const text = row.map((each) => each.text).join("\n");
    delimiter ??= /[,;\t|]/.exec(text)?.[0];
    const read = attempt(first, () => ({ line: first.line, text, cells: cellsOf(text, delimiter ?? ",") }));
    if ("reason" in read) ahead = [...others, ...ahead];
    yield read;
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
function namesIn({ text, cells }: Row): readonly string[] {
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
  const name = ORDER_MEMBERS.find((member) => member.toLowerCase() === folded);
  if (name !== undefined) return name;
  const shown = JSON.stringify(cell.slice(0, 60));
  throw new SyntaxError(
    `is neither JSON nor a header of CSV: ${shown} is none of ${ORDER_MEMBERS.join(", ")}`,
  );
}

function orderIn(names: readonly string[], cells: readonly string[]): object {
  const counts = `has ${cells.length} cells, and the header has ${names.length}`;
  if (cells.length !== names.length) throw new SyntaxError(counts);
  const members = names.map((name, i) => [name, valueIn(name, cells[i] ?? "")] as const);
  return Object.fromEntries(members.filter(([name]) => name !== ""));
}

/** An empty cell is null. */
function valueIn(name: string, cell: string): unknown {
  if (cell === "") return null;
  if (name === "") throw new SyntaxError("has a value in a column without a name");
  const isBoolean = name === "complete" && /^(true|false)$/i.test(cell); // spreadsheets write capitals
  return isBoolean ? cell.toLowerCase() === "true" : cell;
}

const INVALID = "\ufffd";
const NOT_TEXT = "has bytes that are not valid in the file's encoding: save the file as UTF-8";
const TOO_LONG = `has more than ${MAX_CHARS} characters: nothing after it is read`;
const ARRAY_TOO_LONG = `The array has more than ${MAX_CHARS} characters: load NDJSON, as jq -c '.[]' makes it`;

function read(from: Line, parse: () => unknown, check: CheckOrder): FileLine {
  const { line, text } = from;
  return attempt({ line, text }, () => {
    if (text.includes(INVALID)) throw new SyntaxError(NOT_TEXT);
    if (text.length > MAX_CHARS) throw new SyntaxError(TOO_LONG);
    const checked = check(parse(), line);
    if (checked.ok) return { line, order: checked.output };
    throw new SyntaxError(describeProblems(checked.problems));
  });
}

/** An error becomes the reason why the line is refused, and does not end the load. */
function attempt<T>({ line, text }: Line, run: () => T): T | RefusedLine {
  try {
    return run();
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return { line, text, reason: thrown instanceof RangeError ? "is nested too deeply" : reason };
  }
}

/** The figures of the file so far. `refusedLines` has the lines since the last progress. */
export type LoadProgress = LoadFigures & {
  readonly read: number;
  readonly refused: number;
  readonly refusedLines: readonly RefusedLine[];
};

type Send = (json: string) => Promise<LoadFigures>;

/**
 * Sends the orders as JSON arrays of up to `batchSize`, one after the other, and yields the progress after
 * each array. The next batch is read while a batch is under way. An error of `send` ends the load.
 */
export async function* loadInBatches(
  lines: AsyncIterable<FileLine>,
  send: Send,
  batchSize: number,
): AsyncGenerator<LoadProgress, void> {
  let progress: LoadProgress = NOTHING_LOADED;
  let orders: string[] = [];
  let refusedLines: RefusedLine[] = [];
  let underWay: Promise<LoadProgress> | undefined;
  const begin = () => {
    const batch = loadBatch(progress, orders, refusedLines, send);
    batch.catch(() => {}); // it is awaited after more lines are read
    [orders, refusedLines] = [[], []];
    return batch;
  };
  for await (const each of lines) {
    if (orders.length + refusedLines.length >= batchSize) {
      if (underWay) {
        progress = await underWay;
        yield progress;
      }
      underWay = begin();
    }
    if ("order" in each) orders.push(JSON.stringify(each.order));
    else refusedLines.push(each);
  }
  if (underWay) {
    progress = await underWay;
    yield progress;
  }
  yield await begin();
}

async function loadBatch(
  before: LoadProgress,
  orders: readonly string[],
  refusedLines: readonly RefusedLine[],
  send: Send,
): Promise<LoadProgress> {
  const figures = orders.length === 0 ? NOTHING_LOADED : await send(`[${orders.join(",")}]`);
  return {
    read: before.read + orders.length + refusedLines.length,
    inserted: before.inserted + figures.inserted,
    updated: before.updated + figures.updated,
    unchanged: before.unchanged + figures.unchanged,
    cancelled: before.cancelled + figures.cancelled,
    kept: before.kept + figures.kept,
    refused: before.refused + refusedLines.length,
    refusedLines,
  };
}

export const NOTHING_LOADED: LoadProgress = {
  ...{ read: 0, inserted: 0, updated: 0, unchanged: 0, cancelled: 0, kept: 0 },
  ...{ refused: 0, refusedLines: [] },
};

/** Returns the name of a file as one line of text, for the audit log. Undefined if nothing is left. */
export function loadedFileName(name: string): string | undefined {
  return name.replace(/\p{C}/gu, "").trim().slice(0, MAX_FILE_NAME_CHARS) || undefined;
}
