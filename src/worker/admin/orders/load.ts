/** Loads all orders of a JSON array, or none. After a lost answer, the same array can be sent again. */

import { ApiError, invalidRequest } from "../../platform/errors.ts";
import type { Problem } from "../../text/check-schema.ts";
import type { Input } from "../call.ts";
import { runLoad } from "./load-sql.ts";
import { type LoadedOrder, MAX_ORDERS_PER_LOAD, orderChecker, parseDigits } from "./loaded-order.ts";
import type { LoadFigures, LoadQuery } from "./schema.ts";

const MAX_REFUSED_ELEMENTS = 100;

/** `text` is an array of up to `MAX_ORDERS_PER_LOAD` orders. Throws the 400 that names wrong elements. */
export async function loadOrders({
  env,
  author,
  text,
  query,
}: Pick<Input<unknown, LoadQuery>, "env" | "author" | "text" | "query">): Promise<LoadFigures> {
  const { accepted, refused } = checkElements(elementsOf(text));
  if (refused.length > 0) {
    const members = { refused: JSON.stringify(refused.slice(0, MAX_REFUSED_ELEMENTS)) };
    throw new ApiError("invalid_request", "Nothing was stored: some orders are not valid.", { members });
  }
  return runLoad(env, JSON.stringify(accepted), query, author);
}

function elementsOf(json: string): readonly unknown[] {
  let elements: unknown;
  try {
    elements = parseDigits(json);
  } catch {} // the next line answers
  if (!Array.isArray(elements)) throw invalidRequest("The body is not a JSON array of orders.");
  if (elements.length <= MAX_ORDERS_PER_LOAD) return elements;
  throw invalidRequest(
    `The body has ${elements.length} orders: at most ${MAX_ORDERS_PER_LOAD} are accepted.`,
  );
}

/** Each wrong element has its first problem. Its `index` counts from 0. */
function checkElements(elements: readonly unknown[]) {
  const accepted: LoadedOrder[] = [];
  const refused: (Problem & { readonly index: number })[] = [];
  const check = orderChecker("element");
  for (const [index, element] of elements.entries()) {
    const checked = check(element, index);
    if (checked.ok) accepted.push(checked.output);
    else refused.push(...checked.problems.slice(0, 1).map((problem) => ({ index, ...problem })));
  }
  return { accepted, refused };
}
