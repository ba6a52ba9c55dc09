/** JSON whose numbers keep their digits: identifiers have 64 bits, JavaScript's numbers only 53. */

type Reviver = (name: string, value: unknown, context: { readonly source: string }) => unknown;

/** Like `JSON.parse`, but `reviveNumber` makes each number. It gets the parsed number and the digits. */
export function parseExactJson(
  text: string,
  reviveNumber: (value: number, source: string) => unknown,
): unknown {
  const reviver: Reviver = (_name, value, context) =>
    typeof value === "number" ? reviveNumber(value, context.source) : value;
  // The standard library's types lack the third argument of a reviver.
  return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]);
}

/** Returns the text of an integer that a number of JavaScript would round. */
export function exactValue(value: number, source: string): number | string {
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(source) ? value : source;
}
