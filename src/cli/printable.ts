/** Text from outside, made safe to print: control and bidirectional characters can change what a terminal shows. */
import { unicodeEscape } from "../worker/unicode-escape.ts";

/** Line breaks are kept: they part the lines of a cell and of a report. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function printable(text: string): string {
  return unicodeEscape(text, UNSAFE);
}

/** What the admin API takes in no text. Other format characters are a part of words and emoji, such as joiners. */
const CONTROL = /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu;

/** As `printable`, of a file's contents: what can be stored through the admin API stays as it is. */
export function printableData(text: string): string {
  return unicodeEscape(text, CONTROL);
}

/** At most `maxChars` characters of the text, on one line. */
export function shortened(text: string, maxChars: number): string {
  const line = printable(text).replaceAll("\n", "\\n");
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1)}…`;
}
