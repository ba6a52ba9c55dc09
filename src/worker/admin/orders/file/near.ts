/** Asks the service about the long numbers of a file: which ids are new, and what is stored near them. Pure. */
import { type LoadedOrder, MAX_ASKED } from "../loaded-order.ts";
import type { NearAnswer, NearQuestion } from "../schema.ts";
import { doubleRange, isBeyondDoubles, isOfDouble, MAX_SAFE_DIGITS, roundedFrom } from "./rounded.ts";

export type LongNumber = {
  readonly id: string;
  readonly member: "id" | "petId" | "quantity";
  readonly value: string;
};
type Asked = Readonly<NearQuestion["asked"][number]>;
export type AskNear = (question: {
  readonly asked: readonly Asked[];
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

export function longNumbersOf(order: LoadedOrder): readonly LongNumber[] {
  const { id } = order;
  return (["id", "petId", "quantity"] as const).flatMap((member) => {
    const value = order[member];
    if (typeof value !== "string" || value.length <= MAX_SAFE_DIGITS) return [];
    const isAsked = roundedFrom(value) !== undefined || (member === "id" && isBeyondDoubles(value));
    return isAsked ? [{ id, member, value }] : [];
  });
}

/** `ids` are the long ids of the file. */
export async function findRounded(
  ids: readonly string[],
  long: readonly LongNumber[],
  askNear: AskNear,
): Promise<Rounded> {
  const sorted = ids.map(BigInt).sort(byValue);
  const asked = long
    .map(withRange)
    .sort((a, b) => byMember(a, b) || byValue(BigInt(a.value), BigInt(b.value)));
  const near: (LongNumber & { near: string })[] = [];
  const pairs = [...pairsIn(ids)];
  let isNew = false;
  for (let start = 0; start < asked.length; start += MAX_ASKED) {
    const part = asked.slice(start, start + MAX_ASKED);
    const { found } = await askNear({ asked: part, known: knownIn(sorted, part) });
    for (const { index, near: stored } of found) {
      const each = part[index];
      if (each === undefined) continue;
      isNew ||= each.member === "id" && isBeyondDoubles(each.value);
      if (stored === null) continue;
      if (roundedFrom(each.value))
        near.push({ id: each.id, member: each.member, value: each.value, near: stored });
      else pairs.push([each.value, stored]);
    }
  }
  const beyond = ids.filter(isBeyondDoubles);
  const isOfDoubles = isNew && beyond.length >= MIN_OF_DOUBLES && beyond.every(isOfDouble);
  return { near, pairs, ofDoubles: isOfDoubles ? beyond.length : 0 };
}

function withRange(number: LongNumber): Asked {
  const { from, to } = roundedFrom(number.value) ?? doubleRange(number.value);
  return { ...number, from: String(from), to: String(to) };
}

function byValue(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}

/** Ids come first. */
function byMember(a: LongNumber, b: LongNumber): number {
  return Number(a.member !== "id") - Number(b.member !== "id");
}

function knownIn(sorted: readonly bigint[], part: readonly Asked[]): readonly string[] {
  const ofIds = part.filter(({ member }) => member === "id");
  const [first, last] = [ofIds[0], ofIds.at(-1)];
  if (first === undefined || last === undefined) return [];
  const [from, to] = [BigInt(first.from), BigInt(last.to)];
  return sorted.slice(placeOf(from, sorted), placeOf(to + 1n, sorted)).map(String);
}

/** Returns the place of the first id that is not below this one. */
function placeOf(id: bigint, sorted: readonly bigint[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? id) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function* pairsIn(ids: readonly string[]): Generator<readonly [string, string]> {
  const byDouble = new Map<number, string>();
  for (const id of ids) {
    const first = byDouble.get(Number(id));
    if (first === undefined) byDouble.set(Number(id), id);
    else yield [first, id];
  }
}
