/** JSON with all digits of its integers: identifiers have 64 bits, JavaScript numbers only 53. Pure. */

/** Every current browser has these. TypeScript's library does not have them yet. */
type WithSource = {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};

// The type above describes newer browsers; in an older one, the calls throw.
const json = JSON as unknown as WithSource;

/** The value, whose numbers `JSON.stringify` writes with all their digits. */
export function parseExactly(text: string): unknown {
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined ? json.rawJSON(source) : value,
  );
}

/** The value, with its numbers as text. */
export function parseNumbersAsText(text: string): unknown {
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined ? source : value,
  );
}

/** The value, with the integers that JavaScript's numbers would round as text. */
export function parseLargeIntegersAsText(text: string): unknown {
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && /^-?\d+$/.test(source ?? "") && !Number.isSafeInteger(value)
      ? source
      : value,
  );
}
