/** Which of the typed words an error may repeat: one in the wrong place can be a secret, such as an address with a password. */

/** A name of a command or an option as it is misspelled, a short value, a number or a time. Tokens and keys are longer. */
const REPEATED = /^(?:-*[a-z-]{0,24}|[\w.+-]{0,12}|[\dTZ:.+-]{0,32}|.{0,2})$/s;

/** The error without the words, and values of options, that must not be repeated. The longest first: it can have another in it. */
export function withoutValues(text: string, argv: readonly string[]): string {
  const words = argv.map((word) => word.replace(/^--[a-z-]{1,24}=/, ""));
  const hidden = words.filter((word) => !REPEATED.test(word)).sort((a, b) => b.length - a.length);
  return hidden.reduce((shown, word) => shown.replaceAll(word, "…"), text);
}
