/** The numbers of the per-IP rate limits, and which addresses count as one client. Pure. */

/** The `simple.limit` of the bindings in wrangler.toml, which a Worker cannot read from the binding. A test compares them. */
export const MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE = 300;
export const MAX_ADMIN_SIGN_IN_FAILURES_PER_MINUTE = 200;

/** The bindings' period. A client that sends nothing for this long is admitted again, however the windows are aligned. */
export const IP_RATE_LIMIT_PERIOD_SECONDS = 60;

/** An IPv4 address as it is (it has no colon), or the /64 of an IPv6 address, since that is what one subscriber gets. */
export function clientNetwork(address: string): string {
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  if (tail === undefined) return before.slice(0, 4).join(":");
  const after = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}
