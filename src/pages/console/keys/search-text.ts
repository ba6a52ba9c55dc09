/** What an operator types or pastes to find a key. Pure. */
import { keyIn } from "../../../worker/auth/key.ts";

export type SearchText =
  | { readonly kind: "id"; readonly id: string }
  /** A whole secret. It must not be sent: its hash is. */
  | { readonly kind: "secret"; readonly secret: string }
  /** A masked secret, as the lists show it, or its end after the mask. */
  | { readonly kind: "hint"; readonly hint: string }
  | { readonly kind: "text"; readonly text: string };

export function searchTextOf(typed: string): SearchText {
  const text = typed.trim();
  const secret = keyIn(text);
  if (secret !== undefined) return { kind: "secret", secret };
  if (/^key_[0-9A-Za-z]{12}$/.test(text)) return { kind: "id", id: text };
  if (/^sok_[0-9A-Za-z]{2}(…|\.\.\.)[0-9A-Za-z]{4,12}$/.test(text)) return { kind: "hint", hint: text };
  const [, end] = /^(?:…|\.\.\.)([0-9A-Za-z]{4,12})$/.exec(text) ?? [];
  return end === undefined ? { kind: "text", text } : { kind: "hint", hint: end };
}

/** Whether a text may be what a customer reads out: an end of a secret that the admin API takes. */
export function isEndOfSecret(text: string): boolean {
  return /^[0-9A-Za-z]{4,12}$/.test(text);
}
