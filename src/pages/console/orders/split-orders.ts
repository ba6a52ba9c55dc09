/** Splits a file of orders into lines of NDJSON. Pure. */
import { parseExactly } from "../../shared/exact-json.ts";

/** `number` counts from 1: lines of NDJSON, elements of an array. */
export type OrderRecord = { readonly number: number; readonly json: string };

/** Throws a SyntaxError if the text is an array that is not valid JSON. */
export function splitOrders(text: string): OrderRecord[] {
  const content = text.replace(/^\ufeff/, "");
  return content.trimStart().startsWith("[") ? elementsOf(content) : linesOf(content);
}

function elementsOf(text: string): OrderRecord[] {
  const elements = parseExactly(text);
  if (!Array.isArray(elements)) return [];
  return elements.map((element, i) => ({ number: i + 1, json: JSON.stringify(element) }));
}

function linesOf(text: string): OrderRecord[] {
  return text
    .split(/\r?\n/)
    .map((json, i) => ({ number: i + 1, json }))
    .filter(({ json }) => json.trim() !== "");
}
