/** The URL of a request as its client sent it. */
import { invalidRequest } from "./errors.ts";

type Sent = Pick<Request, "url" | "headers">;

/**
 * A tunnel to `npm start` forwards over plain HTTP. Cloudflare's edge sets CF-Visitor, with the client's scheme. Where no edge
 * does, a client that forges it changes only its own answers: a page of another site cannot send it without a preflight.
 */
export function wasSentOverHttps({ url, headers }: Sent): boolean {
  return url.startsWith("https:") || headers.get("CF-Visitor")?.includes('"https"') === true;
}

/** workerd passes a request on whatever its Host header is. RFC 9112, 3.2: one that is not valid is a 400. */
export function urlOf(request: Sent): URL {
  if (!URL.canParse(request.url)) throw invalidRequest("The Host header is not valid.");
  const url = new URL(request.url);
  // Behind Cloudflare's edge, which adds CF-Ray, the API answers no other.
  if (wasSentOverHttps(request) || request.headers.get("CF-Ray") !== null) url.protocol = "https:";
  return url;
}
