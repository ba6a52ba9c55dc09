/** Reads a whole file before its first order is stored: what is wrong with the file, and what people should know. Pure. */
import { counted, formatNumber } from "../../../text/format.ts";
import type { LoadedOrder } from "../loaded-order.ts";
import type { ReadLine, RefusedLine } from "./read.ts";
import { areRounded, isBeyondDoubles, isLong } from "./rounded.ts";
import type { FileProblem } from "./text.ts";
import type { Form } from "./values.ts";

export type FileLimits = {
  readonly orders: number;
  readonly refused: number;
  /** Refused lines are kept up to this many characters. */
  readonly refusedChars: number;
};

/** `notes` are sentences. A `rounded` file can be loaded if a person says so. */
export type CheckedFile = { readonly refused: number; readonly refusedLines: readonly RefusedLine[] } & (
  | { readonly kind: "ready"; readonly notes: readonly string[] }
  | { readonly kind: "wrong" | "rounded"; readonly reason: string }
);

const MAX_INT32 = 2_147_483_647n;
const IDS = ["id", "petId"] as const;
const FALSE_IS_EMPTY =
  "The column complete has 1 and empty cells, and never a 0. PHP, csv-stringify and Perl write false as an empty cell, and an empty cell takes the value away. Write true and false.";

export async function checkFile(
  lines: AsyncIterable<ReadLine | FileProblem>,
  limits: FileLimits,
  allowsRounded: boolean,
): Promise<CheckedFile> {
  const refusedLines: RefusedLine[] = [];
  const seen = { orders: 0, large: 0, forms: new Map<Form, number>() };
  const long: Record<(typeof IDS)[number], bigint[]> = { id: [], petId: [] };
  let [refused, chars] = [0, 0];
  const wrong = (reason: string) => ({ kind: "wrong" as const, reason, refused, refusedLines });
  for await (const each of lines) {
    if ("problem" in each) return wrong(`The file cannot be read: ${each.problem}.`);
    for (const form of each.forms) seen.forms.set(form, (seen.forms.get(form) ?? 0) + 1);
    if ("order" in each) {
      seen.orders++;
      if (isLarge(each.order)) seen.large++;
      for (const member of IDS) {
        const digits = each.order[member] ?? "";
        if (isLong(digits)) long[member].push(BigInt(digits));
      }
    } else {
      refused++;
      chars += each.text.length + each.reason.length;
      if (chars <= limits.refusedChars) refusedLines.push(each);
    }
    if (refused > limits.refused) return wrong(`More than ${counted(limits.refused, "line")} are wrong.`);
    if (seen.orders > limits.orders)
      return wrong(
        `The file has more than ${counted(limits.orders, "order")}: the command loads any number.`,
      );
  }
  const complete = (form: "1" | "empty" | "something else") => seen.forms.get(`complete is ${form}`) ?? 0;
  if (complete("1") > 0 && complete("empty") > 0 && complete("something else") === 0)
    return wrong(FALSE_IS_EMPTY);
  const reason = describeRounded(IDS.filter((member) => areRounded(long[member])));
  if (reason !== undefined && !allowsRounded) return { kind: "rounded", reason, refused, refusedLines };
  const isEmpty = complete("empty") > 0 && complete("empty") === seen.orders + refused;
  const [days, cut] = (["a day without a time", "digits beyond milliseconds"] as const).map(
    (form) => seen.forms.get(form) ?? 0,
  );
  const beyond = long.id.filter(isBeyondDoubles).length;
  const notes = [
    days && `${counted(days, "date without a time was", "dates without a time were")} read as midnight UTC.`,
    cut && `${counted(cut, "time")} had digits beyond milliseconds, which were cut.`,
    isEmpty && "The column complete is empty in every line. PHP, csv-stringify and Perl write false so.",
    seen.large > 0 &&
      `${counted(seen.large, "quantity", "quantities")} above ${formatNumber(MAX_INT32)}: clients that read integers of 32 bits fail on the list.`,
    beyond > 0 &&
      `${counted(beyond, "id")} of 2^53 or more: JavaScript, jq 1.6 and most other JSON clients read other numbers, unless they are told to keep all digits. A client that rounds may cancel another order.`,
    reason,
  ].filter((note) => typeof note === "string");
  return { kind: "ready", notes, refused, refusedLines };
}

function isLarge({ quantity }: LoadedOrder): boolean {
  return (quantity?.length ?? 0) >= 10 && BigInt(quantity ?? 0) > MAX_INT32;
}

function describeRounded(members: readonly string[]): string | undefined {
  if (members.length === 0) return undefined;
  const signs = members.map((member) => `each long ${member} is a number that rounding makes`);
  return `A program may have rounded numbers: ${signs.join(", and ")}. Spreadsheets keep 15 digits, JavaScript and jq 1.6 keep 53 bits.`;
}
