/**
 * Schemas of text that operators write. The text is bounded, complete, safe to print in a terminal, and has
 * no API key. Text is stored in NFC, so that one name has one form.
 */
import * as v from "valibot";
import { hasKey } from "../../key/key.ts";
import { isMailAddress } from "../../text/text.ts";

/** These characters can change what a terminal or a page shows. */
const ONE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u;
const NOT_ONE_LINE = "must not have control or bidirectional characters";
const LINES = /^(?:[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]|\n)*$/u;
/** U+FFFD stands where a character was lost on the way. SQLite cannot store an unpaired surrogate. */
const WHOLE = /^[^\p{Cs}\p{Noncharacter_Code_Point}\ufffd]*$/u;
const BROKEN = "must not have broken characters";
/** A character that can be seen. The characters by code are invisible, though Unicode calls them symbols. */
const VISIBLE =
  /[^\p{Z}\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]/u;

/** One line of text that is safe to print in a terminal. */
export function shortText(maxChars: number) {
  return v.pipe(text(maxChars), v.regex(ONE_LINE, NOT_ONE_LINE));
}

/** Text that a search compares with stored text. It may be empty. */
export const soughtText = v.pipe(
  v.string("must be text"),
  v.normalize("NFC"),
  v.maxLength(254, "must have at most 254 characters"),
  v.regex(WHOLE, BROKEN),
  v.regex(ONE_LINE, NOT_ONE_LINE),
);

export const mailAddress = v.pipe(shortText(254), v.check(isMailAddress, "must be an e-mail address"));

/** Text with line breaks. */
export function longText(maxChars: number) {
  const message = "must not have control characters other than line breaks, nor bidirectional ones";
  return v.pipe(
    v.string("must be text"),
    v.description(`1 to ${maxChars} characters, with line breaks.`),
    v.transform((text) => text.replaceAll(/\r\n?/g, "\n")),
    text(maxChars),
    v.regex(LINES, message),
    v.metadata({ kind: "lines" }),
  );
}

function text(maxChars: number) {
  return v.pipe(
    v.string("must be text"),
    v.normalize("NFC"),
    v.trim(),
    v.minLength(1, "must not be empty"),
    v.maxLength(maxChars, `must have at most ${maxChars} characters`),
    v.regex(WHOLE, BROKEN),
    v.regex(VISIBLE, "must have something that can be seen"),
    v.check((text) => !hasKey(text), "must not contain an API key"),
  );
}
