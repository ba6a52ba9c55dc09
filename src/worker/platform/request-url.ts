/** The URL of a request as its client sent it. */
import { invalidRequest } from "./errors.ts";

type RequestParts = Pick<Request, "url" | "headers">;

/**
 * A tunnel to `npm start` forwards over plain HTTP, and Cloudflare's edge sets CF-Visitor to the client's
 * scheme. Without the edge a client can forge CF-Visitor, which changes only the client's own answers.
 */
export function wasSentOverHttps({ url, headers }: RequestParts): boolean {
  return url.startsWith("https:") || headers.get("CF-Visitor")?.includes('"https"') === true;
}

/** workerd does not check the Host header. RFC 9112, 3.2: the answer to an invalid Host header is a 400. */
export function urlOf(request: RequestParts): URL {
  if (!URL.canParse(request.url)) throw invalidRequest("The Host header is not valid.");
  const url = new URL(request.url);
  // A request with CF-Ray came through Cloudflare's edge, where the API answers https only.
  if (wasSentOverHttps(request) || request.headers.get("CF-Ray") !== null) url.protocol = "https:";
  return url;
}

/**
 * Whether the Origin header names the address of the request. Behind a tunnel wrangler's proxy gives the
 * header the scheme of the tunnel's own connection. At Cloudflare, where plain HTTP is refused, both are the same.
 */
export function isOwnOrigin(origin: string, request: RequestParts): boolean {
  return origin === urlOf(request).origin || origin === new URL(request.url).origin;
}
