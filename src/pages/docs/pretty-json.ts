/** Indents JSON text and keeps all digits: identifiers have 64 bits, JavaScript numbers only 53. Pure. */

/** Every current browser has these. TypeScript's library does not have them yet. */
type WithSource = {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};

/** Returns the text unchanged if it is not JSON, or if the browser is too old. */
export function prettyJson(text: string): string {
  // The type above describes newer browsers; in an older one, the call throws.
  const json = JSON as unknown as WithSource;
  try {
    const exact = json.parse(text, (_key, value, { source }) =>
      typeof value === "number" && source !== undefined ? json.rawJSON(source) : value,
    );
    return JSON.stringify(exact, null, 2);
  } catch {
    return text;
  }
}
