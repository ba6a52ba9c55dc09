/** The URL of a request. */
import { invalidRequest } from "./errors.ts";

/** workerd passes a request on whatever its Host header is. RFC 9112, 3.2: one that is not valid is a 400. */
export function urlOf({ url }: { readonly url: string }): URL {
  if (!URL.canParse(url)) throw invalidRequest("The Host header is not valid.");
  return new URL(url);
}
