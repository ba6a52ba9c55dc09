/** JSON whose numbers keep their digits: identifiers have 64 bits, JavaScript's numbers only 53. Pure. */

type Reviver = (name: string, value: unknown, context: { readonly source: string }) => unknown;

/** As `JSON.parse`, but each number becomes what `reviveNumber` makes of it and of its digits in the text. */
export function parseExactJson(
  text: string,
  reviveNumber: (value: number, source: string) => unknown,
): unknown {
  const reviver: Reviver = (_name, value, context) =>
    typeof value === "number" ? reviveNumber(value, context.source) : value;
  // The standard library's types do not know the third argument yet.
  return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]);
}

declare global {
  interface JSON {
    /** V8 has it, the standard library's types do not. `JSON.stringify` copies the text. */
    rawJSON(text: string): object;
  }
}

/** A number that `JSON.stringify` writes with all its digits. */
export function exactNumber(value: number, source: string): unknown {
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(source) ? value : JSON.rawJSON(source);
}
