/** What the commands read of the service's answers. A server of another version, or another server, can answer with anything. */
import * as v from "valibot";
import { parseExactJson } from "../../worker/exact-json.ts";
import { LostAnswer } from "../admin-client.ts";

/** The members that a command reads. It ignores others, which a newer service may have. */
export type Shape<Answer> = v.GenericSchema<unknown, Answer>;

const text = v.string();
export const textOrNull = v.nullable(text);
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** An integer of 64 bits. Above 2^53 it is a bigint, which prints all its digits. */
export const int64 = v.union([v.number(), v.bigint()]);
export const int64OrNull = v.nullable(int64);
export const effective = { effective: text };

export const figures = { admitted: count, refused: count, refusedWhileBanned: count };
export const hours = arrayOf(v.object({ hour: text, ...figures }));

export const limits = v.object({ requestsPerMinute: count, requestsPerDay: count });

/** As the types of the service have it, which are readonly. */
export function arrayOf<Item>(item: Shape<Item>) {
  return v.pipe(v.array(item), v.readonly());
}

/** A page of a list, and the value that the next page begins with. */
export function pageOf<Next>(next: Shape<Next>) {
  return { next: v.nullable(next) };
}

/** Numbers keep their digits: they become what `reviveNumber` makes of them. Throws unless the text has this shape. */
export function parseAnswer<Answer>(
  shape: Shape<Answer>,
  json: string,
  reviveNumber: (value: number, source: string) => unknown = numberOrBigint,
): Answer {
  const result = v.safeParse(shape, parsed(json, reviveNumber));
  if (result.success) return result.output;
  throw notUnderstood();
}

function parsed(json: string, reviveNumber: (value: number, source: string) => unknown): unknown {
  try {
    return parseExactJson(json, reviveNumber);
  } catch {
    return undefined; // It is JSON, as `answerOf` has checked, but nested too deeply for the parser with a reviver.
  }
}

function numberOrBigint(value: number, source: string): unknown {
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(source) ? value : BigInt(source);
}

/** A page reads at least 150 rows, and D1 has no place for so many pages of them. */
export const MAX_PAGES = 100_000;

/** The pages of a list, up to the last one or until the reader has enough. Throws if they do not come to an end. */
export async function* pagesOf<Page extends { readonly next: string | number | null }>(
  fetchPage: (next: Page["next"]) => Promise<Page>,
): AsyncGenerator<Page, void> {
  let next: Page["next"] = null;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await fetchPage(next);
    if (page.next !== null && page.next === next) break;
    yield page;
    next = page.next;
    if (next === null) return;
  }
  throw notUnderstood();
}

export function notUnderstood(): LostAnswer {
  return new LostAnswer("The service answered something that this command does not understand.");
}
