/** Schemas of text that operators write: bounded, safe to print in a terminal, and without secrets. */
import * as v from "valibot";
import { secretIn } from "../looks-like-secret.ts";

/** Control and bidirectional characters can change what a terminal or a page shows. */
export const ONE_LINE = /^[^\p{Cc}\p{Bidi_Control}]*$/u;
export const NOT_ONE_LINE = "must not have control or bidirectional characters";
const LINES = /^(?:[^\p{Cc}\p{Bidi_Control}]|\n)*$/u;

/** A zero-width space or a blank letter of Hangul or Braille alone would show nothing. */
const VISIBLE = /[^\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Finds what must not be in a text that is stored and shown in clear. */
type FindSecret = (text: string) => string | undefined;

/** The message names less than a masked secret shows. */
function noSecret(findSecret: FindSecret) {
  return v.check<string, (issue: v.CheckIssue<string>) => string>(
    (text) => findSecret(text) === undefined,
    ({ input }) =>
      `must not have a key or a token in it, and what begins with ${findSecret(input)?.slice(0, 4)} looks like one`,
  );
}

/** SQLite stores UTF-8, in which an unpaired surrogate would become another character. */
const WELL_FORMED = v.check<string, string>((text) => text.isWellFormed(), "must be well-formed Unicode");

/** One line of text that is safe to print in a terminal. */
export function shortText(maxChars: number, findSecret: FindSecret = secretIn) {
  return v.pipe(
    v.string("must be text"),
    v.trim(),
    v.regex(VISIBLE, "must not be empty"),
    v.maxLength(maxChars, `must have at most ${maxChars} characters`),
    v.regex(ONE_LINE, NOT_ONE_LINE),
    WELL_FORMED,
    noSecret(findSecret),
  );
}

/** Text with line breaks. */
export function longText(maxChars: number) {
  return v.pipe(
    v.string("must be text"),
    v.transform((text) => text.replaceAll("\r\n", "\n")),
    v.trim(),
    v.regex(VISIBLE, "must not be empty"),
    v.maxLength(maxChars, `must have at most ${maxChars} characters`),
    v.regex(LINES, "must not have control characters other than line breaks, nor bidirectional ones"),
    WELL_FORMED,
    noSecret(secretIn),
  );
}
