/** The numbers of the per-IP rate limits, and which addresses count as one client. Pure. */

/** The `simple.limit` of the bindings in wrangler.toml, which a Worker cannot read from the binding. A test compares them. */
export const MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE = 300;
export const MAX_ADMIN_SIGN_IN_FAILURES_PER_MINUTE = 200;

/** The bindings' period. A client that sends nothing for this long is admitted again, however the windows are aligned. */
export const IP_RATE_LIMIT_PERIOD_SECONDS = 60;

/** All Workers of other zones send this address. */
const ADDRESS_OF_WORKERS = "2a06:98c0:3600::103";

/**
 * Whose requests are counted together: one IPv4 address, one IPv6 /48, or the Workers of one zone. One subscriber of IPv6 has
 * up to a /48, which is 65,536 networks of /64. `worker` is the header CF-Worker. Cloudflare sets it on requests of Workers.
 * Other clients can send it as well, so without that address it means nothing.
 */
export function clientNetwork(address: string, worker: string | null): string {
  if (address === ADDRESS_OF_WORKERS) return `Workers of ${worker ?? "unknown"}`;
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return `${[...before, ...zeros, ...after].slice(0, 3).join(":")}::/48`;
}
