/**
 * Reads a file of orders and loads it in batches, for the command line and the console. The first character tells the format:
 * `[` is a JSON array, `{` is NDJSON, anything else is CSV with a header. Pure.
 */
import Papa from "papaparse";
import { describeProblems } from "../check-schema.ts";
import {
  checkOrder,
  JsonNumber,
  type LoadedOrder,
  type LoadFigures,
  MAX_FILE_NAME_CHARS,
  ORDER_MEMBERS,
  orderJson,
  parseJsonNumbers,
} from "./loaded-order.ts";

/** `line` counts from 1: lines of the file, or elements of its array. */
export type RefusedLine = { readonly line: number; readonly text: string; readonly reason: string };
export type FileLine = { readonly line: number; readonly order: LoadedOrder } | RefusedLine;

/** An array is read as a whole: some 100,000 orders, which take 40 MB. A line of NDJSON or CSV has the same bound. */
const MAX_CHARS = 16_000_000;

type Parse = (text: string) => unknown;

/** `chunks` is the decoded text. Blank lines are left out. */
export async function* readOrders(chunks: AsyncIterable<string>): AsyncGenerator<FileLine, void> {
  const lines = linesOf(chunks);
  let parse: Parse | undefined;
  for await (const { line, text } of lines) {
    if (text.trim() === "") continue;
    if (parse === undefined) {
      const [first] = text.trimStart();
      if (first === "[") return yield* readArray(text, lines);
      parse = first === "{" ? parseJsonNumbers : csvParser(text);
      if (parse === undefined) return yield { line, text, reason: NOT_A_HEADER };
      if (first !== "{") continue;
    }
    yield readLine(line, text, parse);
  }
}

/** Ends after a line that is too long. */
async function* linesOf(chunks: AsyncIterable<string>) {
  let line = 1;
  let pending = "";
  for await (const chunk of chunks) {
    const [first = "", ...others] = chunk.split("\n");
    const texts = [pending + first, ...others];
    pending = texts.pop() ?? "";
    for (const text of texts) yield { line: line++, text: text.replace(/\r$/, "") };
    if (pending.length > MAX_CHARS) break;
  }
  yield { line, text: pending };
}

async function* readArray(
  first: string,
  lines: AsyncIterable<{ text: string }>,
): AsyncGenerator<FileLine, void> {
  let array = first;
  for await (const { text } of lines) {
    array += `\n${text}`;
    if (array.length > MAX_CHARS) break;
  }
  try {
    if (array.length > MAX_CHARS) throw new SyntaxError(TOO_LONG);
    const elements = parseJsonNumbers(array) as unknown[]; // it begins with a bracket
    for (const [i, value] of elements.entries()) yield toLine(i + 1, value, () => JSON.stringify(value));
  } catch (thrown) {
    yield { line: 1, text: "", reason: reasonOf(thrown) };
  }
}

const TOO_LONG = `The array has more than ${MAX_CHARS} characters: load NDJSON, as jq -c '.[]' makes it`;

function readLine(line: number, text: string, parse: Parse): FileLine {
  try {
    return toLine(line, parse(text), () => text);
  } catch (thrown) {
    return { line, text, reason: reasonOf(thrown) };
  }
}

function toLine(line: number, value: unknown, text: () => string): FileLine {
  const checked = checkOrder(value);
  if (checked.ok) return { line, order: checked.output };
  return { line, text: text(), reason: describeProblems(checked.problems) };
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof SyntaxError) return thrown.message;
  throw thrown;
}

const NOT_A_HEADER = `is neither JSON nor the header of a CSV with columns of ${ORDER_MEMBERS.join(", ")}`;

/** Of a row in one line, since no member of an order has line breaks. The header tells the delimiter. Undefined: it is no header. */
function csvParser(header: string): Parse | undefined {
  const { data, meta } = Papa.parse<string[]>(header);
  const [names = []] = data;
  const isHeader = names.includes("id") && names.every((name) => ORDER_MEMBERS.includes(name));
  if (!isHeader || new Set(names).size < names.length) return undefined;
  return (text) => {
    const { data, errors } = Papa.parse<string[]>(text, { delimiter: meta.delimiter, newline: "\n" });
    const [cells = []] = data;
    if (errors[0]) throw new SyntaxError(`is not valid CSV: ${errors[0].message}`);
    const counts = `has ${cells.length} cells, and the header has ${names.length}`;
    if (cells.length !== names.length) throw new SyntaxError(counts);
    return Object.fromEntries(names.map((name, i) => [name, cellValue(name, cells[i] ?? "")]));
  };
}

function cellValue(name: string, cell: string): unknown {
  if (cell === "") return null;
  if (["id", "petId", "quantity"].includes(name)) return new JsonNumber(cell);
  const isBoolean = name === "complete" && /^(true|false)$/i.test(cell); // spreadsheets write capitals
  return isBoolean ? cell.toLowerCase() === "true" : cell;
}

/** Of a file so far. `refusedLines` came since the progress before. */
export type LoadProgress = LoadFigures & {
  readonly read: number;
  readonly refused: number;
  readonly refusedLines: readonly RefusedLine[];
};

type Batch = {
  readonly answer: Promise<LoadFigures>;
  readonly orders: number;
  readonly refusedLines: readonly RefusedLine[];
};

/**
 * Sends the orders as JSON arrays of up to `batchSize`, one after the other, and yields the progress after each. The next batch is read
 * while one is under way. Of two lines with one id the later one is stored: the second one begins a new batch. What `send` throws
 * ends the load.
 */
export async function* loadInBatches(
  lines: AsyncIterable<FileLine>,
  send: (json: string) => Promise<LoadFigures>,
  batchSize: number,
): AsyncGenerator<LoadProgress, void> {
  let progress: LoadProgress = NOTHING_LOADED;
  let orders = new Map<string, string>();
  let refusedLines: RefusedLine[] = [];
  let underWay: Batch | undefined;
  const begin = (): Batch => {
    const answer = orders.size === 0 ? NOTHING_SENT : send(`[${[...orders.values()].join(",")}]`);
    answer.catch(() => {}); // `plus` awaits it, after more lines are read
    const batch = { answer, orders: orders.size, refusedLines };
    orders = new Map();
    refusedLines = [];
    return batch;
  };
  const ended = async function* (batch: Batch) {
    progress = await plus(progress, batch);
    yield progress;
  };
  for await (const each of lines) {
    const isRepeated = "order" in each && orders.has(each.order.id);
    if (isRepeated || orders.size + refusedLines.length >= batchSize) {
      if (underWay) yield* ended(underWay);
      underWay = begin();
    }
    if ("order" in each) orders.set(each.order.id, orderJson(each.order));
    else refusedLines.push(each);
  }
  if (underWay) yield* ended(underWay);
  yield* ended(begin());
}

async function plus(before: LoadProgress, { answer, orders, refusedLines }: Batch): Promise<LoadProgress> {
  const { inserted, updated, unchanged, cancelled } = await answer;
  return {
    read: before.read + orders + refusedLines.length,
    inserted: before.inserted + inserted,
    updated: before.updated + updated,
    unchanged: before.unchanged + unchanged,
    cancelled: before.cancelled + cancelled,
    refused: before.refused + refusedLines.length,
    refusedLines,
  };
}

export const NOTHING_LOADED: LoadProgress = {
  ...{ read: 0, inserted: 0, updated: 0, unchanged: 0, cancelled: 0 },
  ...{ refused: 0, refusedLines: [] },
};
const NOTHING_SENT = Promise.resolve<LoadFigures>(NOTHING_LOADED);

/** As the audit log has it: one line of text. Undefined if nothing is left of the name. */
export function loadedFileName(name: string): string | undefined {
  return name.replace(/\p{C}/gu, "").trim().slice(0, MAX_FILE_NAME_CHARS) || undefined;
}
