/** Text from outside, made safe to print: control and bidirectional characters can change what a terminal shows. */

/** Line breaks are kept: they part the lines of a cell and of a report. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Each such character becomes `\uXXXX`, as in JSON, so that JSON stays the same value. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) =>
    Array.from({ length: char.length }, (_, i) => escapeOf(char.charCodeAt(i))).join(""),
  );
}

function escapeOf(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** At most `maxChars` characters of the text, on one line. */
export function shortened(text: string, maxChars: number): string {
  const line = printable(text).replaceAll("\n", "\\n");
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1)}…`;
}
