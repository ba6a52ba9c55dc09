/** Bytes and headers as the text that was sent, or nothing: no character is ever replaced. Pure. */

/** Undefined if the bytes are not valid UTF-8. A BOM is left out. */
export function decodeUtf8(bytes: ArrayBuffer | Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The text of a header: UTF-8, or RFC 8187's `UTF-8''Zo%C3%AB`, which every client can send. Undefined if the
 * text is neither. The runtime decodes UTF-8 itself, and puts U+FFFD for a byte that is not UTF-8.
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

/** Whether all that is escaped in an address, as in `%C3%AB`, is UTF-8. Hono leaves the rest as it is. */
export function isUtf8Address(address: string): boolean {
  const escaped = address.match(/(?:%[\da-f]{2})+/gi) ?? [];
  return escaped.every((bytes) => decodeHeader(`UTF-8''${bytes}`) !== undefined);
}

/** Two texts have the same fold if they differ in case alone. `SS` is also ß, and each Turkish i is an i. */
export function foldCase(text: string): string {
  // toUpperCase joins ß and ss. toLowerCase gives a sigma at the end of a word a form of its own.
  const lower = text.normalize("NFC").toUpperCase().toLowerCase().replaceAll("ς", "σ");
  return lower.replaceAll("i\u0307", "i").normalize("NFC");
}

/** The form in which texts are sought: in any case and width, and without the accents of letters. */
export function foldForSearch(text: string): string {
  // Marks of other alphabets are letters there, as the vowels of Hindi are.
  return foldCase(text.normalize("NFKD").replaceAll(/[\u0300-\u036f]/g, ""));
}

/** What a mail server accepts (RFC 5321, RFC 6531), also with `"a b"` before the @ or `[::1]` after it. */
export function isMailAddress(text: string): boolean {
  return MAIL_ADDRESS.test(text);
}

const OTHERS = String.raw`[^\s\x00-\x7f]`;
const ATOM = String.raw`(?:[\w!#$%&'*+/=?^\x60{|}~-]|${OTHERS})+`;
const QUOTED = String.raw`"(?:[ !#-[\]-~]|${OTHERS}|\\[ -~])*"`;
const LABEL = `(?:[a-zA-Z0-9]|${OTHERS})(?:(?:[a-zA-Z0-9-]|${OTHERS}){0,61}(?:[a-zA-Z0-9]|${OTHERS}))?`;
const MAIL_ADDRESS = new RegExp(
  String.raw`^(?:${ATOM}(?:\.${ATOM})*|${QUOTED})@(?:${LABEL}(?:\.${LABEL})*|\[[\da-zA-Z:.-]+\])$`,
  "u",
);
