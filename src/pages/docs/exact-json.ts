/** JSON, indented, with every digit as it came: identifiers have 64 bits, JavaScript's numbers only 53. Pure. */

/** In every current browser, and not yet in TypeScript's library. */
type WithSource = {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};

/** Text that is no JSON, and in an older browser any text, comes back as it is. */
export function exactPretty(text: string): string {
  // The type above says what the newer JSON has; where it has not, the call throws.
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
