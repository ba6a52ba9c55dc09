/** The client's address as a key. */
import type { Context } from "hono";
import { convertIPv4BinaryToString, convertIPv6BinaryToString, convertIPv6ToBinary } from "hono/utils/ipaddr";

/**
 * The address that Cloudflare saw: IPv4 as it is, also if mapped into IPv6, and IPv6 by its /64, because a client has at least that many.
 * Without the header, as in some tests, all clients are "unknown".
 */
export function clientAddress(c: Context): string {
  const address = c.req.header("CF-Connecting-IP") ?? "unknown";
  if (!address.includes(":")) return address;
  const binary = convertIPv6ToBinary(address);
  if (binary >> 32n === 0xffffn) return convertIPv4BinaryToString(binary & 0xffffffffn);
  return `${convertIPv6BinaryToString((binary >> 64n) << 64n)}/64`;
}
