/** Loads orders: all of a JSON array or none, and again without effect, so that a lost answer is repaired by sending it again. */
import type { Author, Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { invalidRequest } from "../../errors.ts";
import { type LoadOptions, runLoad } from "./load-sql.ts";
import {
  type LoadedOrder,
  type LoadFigures,
  MAX_ORDERS_PER_LOAD,
  orderChecker,
  parseDigits,
} from "./loaded-order.ts";

/** `index` counts from 0. `member` is null if the element is no object. */
export type RefusedElement = {
  readonly index: number;
  readonly member: string | null;
  readonly reason: string;
};

export type LoadResult =
  | ({ readonly kind: "loaded" } & LoadFigures)
  /** Nothing is stored. The first `MAX_REFUSED_ELEMENTS`, each with its first problem. */
  | { readonly kind: "refused"; readonly lines: readonly RefusedElement[] };

const MAX_REFUSED_ELEMENTS = 100;

/** `json` is an array of up to `MAX_ORDERS_PER_LOAD` orders. */
export async function loadOrders(
  env: Bindings,
  json: string,
  options: LoadOptions,
  author: Author,
): Promise<LoadResult> {
  const { accepted, refused } = checkElements(elementsOf(json));
  if (refused.length > 0) return { kind: "refused", lines: refused.slice(0, MAX_REFUSED_ELEMENTS) };
  const load = { ...options, json: JSON.stringify(accepted) };
  const figures = await runLoad(openDatabase(env.DB), load, author);
  return { kind: "loaded", ...figures };
}

function elementsOf(json: string): readonly unknown[] {
  const elements = parseArray(json);
  if (elements === undefined) throw invalidRequest("The body is not a JSON array of orders.");
  if (elements.length <= MAX_ORDERS_PER_LOAD) return elements;
  throw invalidRequest(
    `The body has ${elements.length} orders: at most ${MAX_ORDERS_PER_LOAD} are accepted.`,
  );
}

function parseArray(json: string): readonly unknown[] | undefined {
  try {
    const value = parseDigits(json);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function checkElements(elements: readonly unknown[]) {
  const accepted: LoadedOrder[] = [];
  const refused: RefusedElement[] = [];
  const check = orderChecker("element");
  for (const [index, element] of elements.entries()) {
    const checked = check(element, index);
    if (checked.ok) accepted.push(checked.output);
    else refused.push(...checked.problems.slice(0, 1).map((problem) => ({ index, ...problem })));
  }
  return { accepted, refused };
}
