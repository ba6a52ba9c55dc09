/**
 * Reads a file of orders. The first character tells the format: `[` is a JSON array, `{` is one object a line,
 * anything else is CSV with a header. Pure.
 */
import { isRecord, type Problem as WrongMember } from "../../../text/check-schema.ts";
import { repeated } from "../../../text/text.ts";
import { type CheckOrder, type LoadedOrder, orderChecker } from "../loaded-order.ts";
import { csvRowsOf } from "./csv.ts";
import { elementsOf, objectsOf, type Parsed, parseOnce } from "./json.ts";
import { decodedText, type FileProblem, INVALID, type Line, linesOf, NOT_TEXT } from "./text.ts";
import { type Form, readValues } from "./values.ts";

export type RefusedLine = Line & { readonly reason: string };
export type ReadLine = { readonly forms: readonly Form[] } & (
  | { readonly line: number; readonly order: LoadedOrder }
  | RefusedLine
);

/** Reads the orders of a file. Lines and rows without a value are left out. A problem ends the file. */
export async function* readOrders(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<ReadLine | FileProblem, void> {
  const chunks = decodedText(bytes);
  let blank = "";
  for await (const chunk of chunks) {
    const [sign] = chunk.trimStart();
    if (sign === undefined) {
      blank += chunk;
      continue;
    }
    const all = startingWith(blank + chunk, chunks);
    if (sign === "[") return yield* readArray(all);
    return yield* sign === "{" ? readObjects(all) : readRows(all);
  }
}

async function* startingWith(first: string, others: AsyncIterable<string>): AsyncGenerator<string, void> {
  yield first;
  yield* others;
}

/** An array must be valid JSON as a whole. */
async function* readArray(chunks: AsyncIterable<string>): AsyncGenerator<ReadLine | FileProblem, void> {
  const check = orderChecker("element");
  for await (const each of elementsOf(chunks)) {
    if ("problem" in each) return yield each;
    const parsed = parseOnce(each.text);
    if ("reason" in parsed && !parsed.isJson && !each.text.includes(INVALID))
      return yield { problem: `element ${each.line}: ${parsed.reason}` };
    yield readOrder(each, parsed, check);
  }
}

async function* readObjects(chunks: AsyncIterable<string>): AsyncGenerator<ReadLine | FileProblem, void> {
  const check = orderChecker("line");
  for await (const each of objectsOf(linesOf(chunks))) {
    yield "problem" in each ? each : readOrder(each, parseOnce(each.text), check);
  }
}

async function* readRows(chunks: AsyncIterable<string>): AsyncGenerator<ReadLine | FileProblem, void> {
  const check = orderChecker("line");
  for await (const row of csvRowsOf(linesOf(chunks))) {
    if ("problem" in row) yield row;
    else yield readOrder(row, "reason" in row ? { ...row, isJson: false } : { value: row.members }, check);
  }
}

function readOrder({ line, text }: Line, parsed: Parsed, check: CheckOrder): ReadLine {
  const from = { line, text };
  if (text.includes(INVALID)) return { ...from, reason: NOT_TEXT, forms: [] };
  if ("reason" in parsed) return { ...from, reason: parsed.reason, forms: [] };
  const { value, forms } = readValues(parsed.value);
  const checked = check(value, line);
  if (checked.ok) return { line, order: checked.output, forms };
  return { ...from, reason: describe(checked.problems, parsed.value), forms };
}

/** Says what is wrong, with the value that the file has. */
function describe(problems: readonly WrongMember[], value: unknown): string {
  const values: Readonly<Record<string, unknown>> = isRecord(value) ? value : {};
  const reasons = problems.map(({ member, reason }) => {
    if (member === null) return reason;
    const isValue = reason.startsWith("must") && Object.hasOwn(values, member);
    return `${member}: ${reason}${isValue ? `, not ${repeated(JSON.stringify(values[member]), 80)}` : ""}`;
  });
  return reasons.join("; ");
}
