/** A team of Cloudflare Access, whose endpoint of keys is faked, and its assertions. */
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { vi } from "vitest";

export const AUD = "a".repeat(64);
const OTHER_AUD = "b".repeat(64);

export type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

let teams = 0;

const pairs: Promise<KeyPair>[] = [];

/** One of the key pairs that all teams share: making one takes 100 ms. A team publishes the first pairs. */
export async function pairAt(index: number): Promise<KeyPair> {
  pairs[index] ??= generateKeyPair("RS256", { extractable: true });
  return pairs[index];
}

/** A team with a domain of its own and a fake endpoint of its keys. Isolates cache each team's keys. */
export async function startTeam() {
  const domain = `team-${++teams}.cloudflareaccess.com`;
  const published = new Map<string, KeyPair>();
  const team = { domain, reads: 0, isDown: false, held: Promise.resolve() };
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const { href } = new URL(input instanceof Request ? input.url : input);
    if (href !== `https://${domain}/cdn-cgi/access/certs`) throw new Error(`unexpected ${href}`);
    team.reads++;
    await team.held;
    if (team.isDown) return new Response("down", { status: 502 });
    const keys = [...published].map(async ([kid, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid,
      alg: "RS256",
      use: "sig",
    }));
    return Response.json({ keys: await Promise.all(keys), public_certs: [] });
  });
  return Object.assign(team, {
    async addKey(kid: string): Promise<KeyPair> {
      const pair = await pairAt(published.size);
      published.set(kid, pair);
      return pair;
    },
    /** Further reads get no answer before the returned function is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      team.held = promise;
      return resolve;
    },
    bindings: { ACCESS_TEAM_DOMAIN: domain, ACCESS_AUD: `${OTHER_AUD} ${AUD}` },
  });
}

export type Claims = Readonly<Record<string, unknown>>;

/** An assertion of this moment. */
export function sign(
  domain: string,
  { privateKey }: KeyPair,
  kid: string,
  claims: Claims = {},
): Promise<string> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const payload = {
    iss: `https://${domain}`,
    aud: [AUD],
    iat: nowSeconds - 10,
    exp: nowSeconds + 3_600,
    type: "app",
    email: "mo@example.com",
    ...claims,
  };
  return new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid }).sign(privateKey);
}
