/** Escapes characters that could change how a terminal or a page shows a text. Pure. */

/** Each character that matches, as the JSON escapes of its UTF-16 units: JSON stays the same value. `unsafe` has the flag g. */
export function unicodeEscape(text: string, unsafe: RegExp): string {
  return text.replace(unsafe, (char) =>
    Array.from({ length: char.length }, (_, i) => escapeOf(char.charCodeAt(i))).join(""),
  );
}

function escapeOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
