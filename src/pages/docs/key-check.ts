/** Reads an API key from what people paste. Pure. */
import { isWellFormedKey } from "../../worker/auth/key-format.ts";

export type KeyCheck = { readonly key: string } | { readonly problem: string };

const KEY_CHARS = 42;

/** The key, or a sentence that says what is wrong with it. Whether the service knows the key, only the service can say. */
export function checkKey(text: string): KeyCheck {
  const key = withoutWrapping(text);
  if (isWellFormedKey(key)) return { key };
  return { problem: problemOf(key) };
}

/** Without what stands before the key (a header, an assignment), quotes, and blanks and line breaks, which no key has. */
function withoutWrapping(text: string): string {
  const start = text.indexOf("sok_");
  const key = start >= 0 ? text.slice(start) : text.replace(/^\s*(?:authorization\s*:\s*)?bearer\b/i, "");
  return key.replace(/["'`\s]+/g, "");
}

function problemOf(key: string): string {
  if (key === "") return "Enter your API key.";
  if (/…|\.\.\.|[*•]{2}/.test(key)) {
    return "This is a masked key, which only names a key. Enter the whole key: it was shown once, when it was issued.";
  }
  if (!key.startsWith("sok_")) return "This is not an API key of this service: each one begins with sok_.";
  if (key.length !== KEY_CHARS) {
    return `An API key has ${KEY_CHARS} characters, and this text has ${key.length}. Copy the whole key.`;
  }
  if (!/^sok_[0-9A-Za-z]+$/.test(key))
    return "After sok_, an API key has only the letters A to Z and a to z, and digits.";
  return "A character of this key is wrong: its checksum does not match. Copy the key again.";
}
