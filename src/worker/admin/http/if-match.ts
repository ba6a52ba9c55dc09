/** `ETag` and `If-Match` of keys, plans and orders (RFC 9110, section 13.1.1). */
import type { Context } from "hono";
import type { AppEnv } from "../../context.ts";
import { invalidRequest } from "../../platform/errors.ts";

export function toEtag({ version }: { readonly version: number }): string {
  return `"${version}"`;
}

/**
 * Returns the version in `If-Match`. Undefined: the change applies to any version. Cloudflare makes an ETag
 * weak when it compresses an answer.
 */
export function ifMatch(c: Context<AppEnv>): number | undefined {
  const header = c.req.header("If-Match") ?? "*";
  if (header === "*") return undefined;
  const version = /^(?:W\/)?"(\d{1,15})"$/.exec(header)?.[1];
  if (version === undefined) throw invalidRequest('If-Match must be one ETag, as in "7", or *.');
  return Number(version);
}
