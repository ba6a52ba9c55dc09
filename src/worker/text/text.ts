/** Decodes bytes and headers, and folds texts. */

/** Returns undefined if the bytes are not valid UTF-8: no character is replaced. Removes a BOM. */
export function decodeUtf8(bytes: ArrayBuffer | Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Decodes a file of a person's machine by its BOM. Wrong bytes become U+FFFD. */
export function decodeByMark(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

/** A file begins with a character of ASCII, so a zero byte beside it means UTF-16 without a mark. */
export function encodingOf([first, second]: Uint8Array): string {
  if ((first === 0xfe && second === 0xff) || first === 0) return "utf-16be";
  return (first === 0xff && second === 0xfe) || second === 0 ? "utf-16le" : "utf-8";
}

/**
 * Returns the text of a header: UTF-8, or RFC 8187's `UTF-8''Zo%C3%AB`, which every client can send. Returns
 * undefined for any other text. The runtime decodes UTF-8, and puts U+FFFD for a byte that is not UTF-8.
 */
export function decodeHeader(value: string): string | undefined {
  const [, escaped] = /^UTF-8'[^']*'(.*)$/i.exec(value) ?? [];
  if (escaped === undefined) return value.includes("\uFFFD") ? undefined : value;
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
}

/** Whether all escapes in an address, such as `%C3%AB`, are UTF-8. Hono does not decode other escapes. */
export function isUtf8Address(address: string): boolean {
  const escaped = address.match(/(?:%[\da-f]{2})+/gi) ?? [];
  return escaped.every((bytes) => decodeHeader(`UTF-8''${bytes}`) !== undefined);
}

/** An API key, an admin token and a webhook's secret are longer. A number or a time has only the other characters. */
const MAY_BE_SECRET = /[^\s"{}]{31,}/g;
const NUMBER_OR_TIME = /^[\d.,:+TZ-]+$/;

/** Returns a text of a client as an error repeats it: in printable characters, cut, and without any secret. */
export function repeated(text: string, maxChars: number): string {
  const shown = text
    .replace(MAY_BE_SECRET, (word) => (NUMBER_OR_TIME.test(word) ? word : `(${word.length} characters)`))
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
  return shown.length > maxChars ? `${shown.slice(0, maxChars)}…` : shown;
}

/** Escapes control and bidirectional characters, which can change how a terminal shows a text. Keeps line feeds. */
export function escapeControls(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Texts that differ only in case have the same fold. `SS` is ß, and each Turkish i is an i. */
export function foldCase(text: string): string {
  // toUpperCase makes SS of ß. toLowerCase gives a sigma at the end of a word its own form.
  const lower = text.normalize("NFC").toUpperCase().toLowerCase().replaceAll("ς", "σ");
  return lower.replaceAll("i\u0307", "i").normalize("NFC");
}

/** Letters that Unicode does not split into a plain letter and a mark. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ...{ ł: "l", ø: "o", đ: "d", ð: "d", ħ: "h", ŧ: "t" },
  ...{ æ: "ae", œ: "oe", þ: "th" },
};

/** The form for searches: the same for any case and width, and without accents. */
export function foldForSearch(text: string): string {
  // Only Latin accents are removed: in other alphabets a mark can be a letter, such as a vowel in Hindi.
  const folded = foldCase(text.normalize("NFKD").replaceAll(/[\u0300-\u036f]/g, ""));
  return folded.replaceAll(/[łøđðħŧæœþ]/g, (letter) => PLAIN_LETTERS[letter] ?? letter);
}

/** Only mail that arrives proves an address. One with `mailto:` is a link. */
export function isMailAddress(text: string): boolean {
  return /^[^\s@:]+@[^\s@:]+$/.test(text);
}
