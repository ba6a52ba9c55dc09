/** Asks the service about the long numbers of a file: which ids are new, and what is stored near them. Pure. */
import { clampToInt64 } from "../../../text/int64.ts";
import { type LoadedOrder, MAX_ASKED } from "../loaded-order.ts";
import type { NearAnswer, NearQuestion } from "../schema.ts";
import { doubleRange, isBeyondDoubles, isOfDouble, MAX_SAFE_DIGITS, roundedFrom } from "./rounded.ts";

export type LongNumber = {
  readonly id: string;
  readonly member: "id" | "petId" | "quantity";
  readonly value: string;
};
type AskedOrder = Readonly<NearQuestion["asked"][number]>;
export type AskNear = (question: {
  readonly asked: readonly AskedOrder[];
  /** Ids of the file. */
  readonly known: readonly string[];
}) => Promise<NearAnswer>;

export type Rounded = {
  /** Numbers that a program may have made of `near`. */
  readonly near: readonly (LongNumber & { readonly near: string })[];
  /** How many ids a double holds, if that is each id beyond 2^53, and some are new. */
  readonly ofDoubles: number;
  /** Different ids that are one double. */
  readonly pairs: readonly (readonly [string, string])[];
};

/** A few ids may be numbers that a double holds by chance. */
const MIN_OF_DOUBLES = 5;

export function isLong(digits: string | null | undefined): digits is string {
  return digits != null && digits.length > MAX_SAFE_DIGITS;
}

/** Returns the pet and the quantity, if a program may have rounded them. */
export function roundedMembersOf(order: LoadedOrder): readonly LongNumber[] {
  return (["petId", "quantity"] as const).flatMap((member) => {
    const value = order[member];
    return isLong(value) && roundedFrom(BigInt(value)) ? [{ id: order.id, member, value }] : [];
  });
}

/** `ids` are the long ids of the file. */
export async function findRounded(
  ids: readonly bigint[],
  members: readonly LongNumber[],
  askNear: AskNear,
): Promise<Rounded> {
  const sorted = ascending(ids);
  const near: (LongNumber & { near: string })[] = [];
  const pairs = [...pairsIn(sorted)];
  const beyond = sorted.filter(isBeyondDoubles);
  let isNew = false;
  for (const [asked, known] of questions(sorted, members)) {
    const { found } = await askNear({ asked, known });
    for (const { index, near: stored } of found) {
      const each = asked[index];
      if (each === undefined) continue;
      const { id, member, value } = each;
      isNew ||= member === "id" && isBeyondDoubles(BigInt(value));
      if (stored === null) continue;
      if (roundedFrom(BigInt(value))) near.push({ id, member, value, near: stored });
      else pairs.push([value, stored]);
    }
  }
  const isOfDoubles = isNew && beyond.length >= MIN_OF_DOUBLES && beyond.every(isOfDouble);
  return { near, pairs, ofDoubles: isOfDoubles ? beyond.length : 0 };
}

function ascending(numbers: readonly bigint[]): readonly bigint[] {
  return numbers.toSorted((a, b) => (a < b ? -1 : 1));
}

/** Each question has as many ids as a query can take, and those of the file that lie between them. */
function* questions(
  sorted: readonly bigint[],
  members: readonly LongNumber[],
): Generator<readonly [readonly AskedOrder[], readonly string[]]> {
  for (let start = 0; start < sorted.length; start += MAX_ASKED) {
    const asked = sorted.slice(start, start + MAX_ASKED).flatMap((id) => {
      const range = roundedFrom(id) ?? (isBeyondDoubles(id) ? doubleRange(id) : undefined);
      return range ? [askedOf({ id: String(id), member: "id", value: String(id) }, range)] : [];
    });
    // A number of 15 digits has a wider range than the numbers beside it, though not wider than 20,000.
    const ends = ascending(asked.flatMap((each) => [BigInt(each.from), BigInt(each.to)]));
    const [from, to] = [ends[0], ends.at(-1)];
    if (from === undefined || to === undefined) continue;
    let [low, high] = [start, start + MAX_ASKED];
    while (low > 0 && (sorted[low - 1] ?? from) >= from) low--;
    while (high < sorted.length && (sorted[high] ?? to) <= to) high++;
    yield [asked, sorted.slice(low, high).map(String)];
  }
  for (let start = 0; start < members.length; start += MAX_ASKED) {
    const asked = members.slice(start, start + MAX_ASKED).flatMap((each) => {
      const range = roundedFrom(BigInt(each.value));
      return range ? [askedOf(each, range)] : [];
    });
    yield [asked, []];
  }
}

function askedOf(
  number: LongNumber,
  { from, to }: { readonly from: bigint; readonly to: bigint },
): AskedOrder {
  // The doubles at both ends of int64 are also those of numbers beyond int64, which no order has.
  return { ...number, from: String(clampToInt64(from)), to: String(clampToInt64(to)) };
}

/** Ids that are one double stand beside each other. */
function* pairsIn(sorted: readonly bigint[]): Generator<readonly [string, string]> {
  let first: bigint | undefined;
  for (const id of sorted) {
    if (first !== undefined && Number(first) === Number(id)) yield [String(first), String(id)];
    else first = id;
  }
}
