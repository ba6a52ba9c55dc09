/** Schemas of text that operators write: bounded, safe to print in a terminal, and without API keys. */
import * as v from "valibot";
import { hasKey } from "../../auth/key.ts";

/** Control and bidirectional characters can change what a terminal or a page shows. SQLite cannot store an unpaired surrogate. */
export const ONE_LINE = /^[^\p{Cc}\p{Cs}\p{Bidi_Control}]*$/u;
export const NOT_ONE_LINE = "must not have control or bidirectional characters";
const LINES = /^(?:[^\p{Cc}\p{Cs}\p{Bidi_Control}]|\n)*$/u;

/** One line of text that is safe to print in a terminal. */
export function shortText(maxChars: number) {
  return v.pipe(text(maxChars), v.regex(ONE_LINE, NOT_ONE_LINE));
}

/** Text with line breaks. */
export function longText(maxChars: number) {
  const message = "must not have control characters other than line breaks, nor bidirectional ones";
  return v.pipe(
    v.string("must be text"),
    v.description(`1 to ${maxChars} characters, with line breaks.`),
    v.transform((text) => text.replaceAll("\r\n", "\n")),
    text(maxChars),
    v.regex(LINES, message),
    v.metadata({ kind: "lines" }),
  );
}

function text(maxChars: number) {
  return v.pipe(
    v.string("must be text"),
    v.trim(),
    v.minLength(1, "must not be empty"),
    v.maxLength(maxChars, `must have at most ${maxChars} characters`),
    v.check((text) => !hasKey(text), "must not contain an API key"),
  );
}
