/**
 * The client's address as a key.
 *
 * @example
 * const options: AddressOptions = { ipv6Prefix: 56 };
 */
export type AddressOptions = {
  /** How many bits of an IPv6 address name a client, 0 to 128. By default 64: a client has a /64 or more. */
  readonly ipv6Prefix?: number | undefined;
};

/**
 * Returns the address that Cloudflare saw: an IPv4 address in dots, an IPv6 address as its prefix, such as
 * `2001:db8::/64`, and "unknown" if no address can be read. Throws a RangeError for a wrong prefix.
 */
export function addressKey(request: Request, { ipv6Prefix = 64 }: AddressOptions = {}): string {
  if (!(ipv6Prefix >= 0 && ipv6Prefix <= 128)) throw new RangeError("ipv6Prefix must be 0 to 128");
  const address = withoutPort(request.headers.get("CF-Connecting-IP") ?? "");
  const canonical = canonicalOf(address.includes(":") ? address : `::ffff:${address}`);
  if (canonical === undefined) return "unknown";
  const groups = groupsOf(canonical);
  if (groups.slice(0, 6).join() === "0,0,0,0,0,65535")
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  const kept = groups.map((group, i) => {
    const bits = Math.min(16, Math.max(0, ipv6Prefix - 16 * i));
    return (group & (0xffff << (16 - bits))).toString(16);
  });
  return `${canonicalOf(kept.join(":"))}/${ipv6Prefix}`;
}

/** Cloudflare adds neither brackets nor a port, but another Worker of the zone can set the address. */
function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](?::\d+)?$|^([^:]*):\d+$/, "$1$2");
}

/** The URL parser writes an address in its canonical form: lower case, compressed, without dots. */
function canonicalOf(address: string): string | undefined {
  const url = `http://[${address}]`;
  const isReadable = /^[\da-f:.]+$/i.test(address) && URL.canParse(url);
  return isReadable ? new URL(url).hostname.slice(1, -1) : undefined;
}

/** The eight groups of a canonical IPv6 address. */
function groupsOf(canonical: string): readonly number[] {
  const [head = [], tail = []] = canonical.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
