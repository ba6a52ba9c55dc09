/** What an operator types or pastes to find a key. Pure. */
import { hasPartOfAdminToken } from "../../../worker/admin/admin-token.ts";
import { longKeyPartIn } from "../../../worker/admin/looks-like-secret.ts";

export type SearchText =
  | { readonly kind: "id"; readonly id: string }
  /** A whole secret. It must not be sent: its hash is. */
  | { readonly kind: "secret"; readonly secret: string }
  /** A masked secret, as the lists show it, or its end after the mask. */
  | { readonly kind: "hint"; readonly hint: string }
  /** The admin token, or looks like a secret that was cut or mistyped. It must not be sent either; `message` says so. */
  | { readonly kind: "unusable"; readonly message: string }
  | { readonly kind: "text"; readonly text: string };

/** Alone, or in what was copied with it, such as a header or quotes. */
const WHOLE_SECRET = /(?<![0-9A-Za-z])sok_[0-9A-Za-z]{38}(?![0-9A-Za-z])/;

/** `token`: the session's. */
export function searchTextOf(typed: string, token: string): SearchText {
  const text = typed.trim();
  if (hasPartOfAdminToken(text, token)) return { kind: "unusable", message: IS_TOKEN };
  if (/^key_[0-9a-f]{32}$/.test(text)) return { kind: "id", id: text };
  const [secret] = WHOLE_SECRET.exec(text) ?? [];
  if (secret !== undefined) return { kind: "secret", secret };
  if (/^sok_[0-9A-Za-z]{2}(…|\.\.\.)[0-9A-Za-z]{4,12}$/.test(text)) return { kind: "hint", hint: text };
  if (/sok_/i.test(text) || longKeyPartIn(text) !== undefined) {
    return { kind: "unusable", message: IS_CUT };
  }
  const [, end] = /^(?:…|\.\.\.)([0-9A-Za-z]{4,12})$/.exec(text) ?? [];
  return end === undefined ? { kind: "text", text } : { kind: "hint", hint: end };
}

/** Whether a text may be what a customer reads out: an end of a secret that the admin API takes. */
export function isEndOfSecret(text: string): boolean {
  return /^[0-9A-Za-z]{4,12}$/.test(text);
}

const IS_TOKEN = "This looks like the admin token. It is not sent.";

const IS_CUT =
  "This looks like a secret that is not complete. It is not sent. Paste it as a whole, or 4 to 12 characters of its end.";

/** Whether a text is or may be a secret, so that it must not become a part of an address. */
export function isSecret(typed: string, token: string): boolean {
  const { kind } = searchTextOf(typed, token);
  return kind === "secret" || kind === "unusable";
}

/** Parameters of which only the service knows the values. They may look random. */
const CURSORS: ReadonlySet<string> = new Set(["after", "before", "live"]);

/** The query of an address that someone may have typed or linked. */
export function withoutSecrets(query: Readonly<Record<string, string>>, token: string) {
  const kept = Object.entries(query).filter(([name, value]) => CURSORS.has(name) || !isSecret(value, token));
  return Object.fromEntries(kept);
}
