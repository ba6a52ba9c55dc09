/** Checks the assertion that Cloudflare Access adds to each request, which names the caller (ADR-21). */
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { JOSEError, JWKSInvalid, JWKSTimeout } from "jose/errors";
import { createRemoteJWKSet } from "jose/jwks/remote";
import { jwtVerify } from "jose/jwt/verify";
import { unavailable } from "../../platform/errors.ts";
import type { AccessSettings } from "../../platform/settings.ts";

/** Access sets this header. A client that goes past Access can set it too, so the value is always checked. */
export const ASSERTION_HEADER = "Cf-Access-Jwt-Assertion";

/** The clocks of Cloudflare and of the isolate differ by less. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** The claim `type` of a token for an application. A token of a session with the team has `org`. */
const APPLICATION_TOKEN = "app";

const keysOfTeams = new Map<string, JWTVerifyGetKey>();

/**
 * Returns the team's public keys. By default jose keeps them for 10 minutes, reads them again for an unknown
 * key id at most every 30 seconds, and gives up a read after 5 seconds. In workerd no request waits for
 * another request's read.
 */
function keysOf(teamDomain: string): JWTVerifyGetKey {
  const keys =
    keysOfTeams.get(teamDomain) ?? createRemoteJWKSet(new URL(`https://${teamDomain}/cdn-cgi/access/certs`));
  keysOfTeams.set(teamDomain, keys);
  return keys;
}

type Identity =
  | { readonly ok: true; readonly actor: string }
  /** `reason` is for the log. */
  | { readonly ok: false; readonly reason: string };

/** Throws a 503 if the team's public keys cannot be read, so that nothing is proven either way. */
export async function identityOf(
  assertion: string,
  { teamDomain, audiences }: AccessSettings,
): Promise<Identity> {
  try {
    const { payload } = await jwtVerify(assertion, keysOf(teamDomain), {
      algorithms: ["RS256"],
      issuer: `https://${teamDomain}`,
      audience: [...audiences],
      requiredClaims: ["exp", "iat"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    if (payload.type !== APPLICATION_TOKEN) return { ok: false, reason: "no application token" };
    const actor = actorIn(payload);
    return actor === undefined ? { ok: false, reason: "names nobody" } : { ok: true, actor };
  } catch (thrown) {
    if (thrown instanceof JOSEError && !READ_FAILURES.has(thrown.code)) {
      return { ok: false, reason: reasonOf(thrown) };
    }
    throw unavailable("Cloudflare Access cannot be reached, so the identity cannot be checked.", thrown);
  }
}

/** The codes that jose throws if it cannot read the public keys. `fetch` throws errors of its own. */
const READ_FAILURES = new Set([JOSEError.code, JWKSInvalid.code, JWKSTimeout.code]);

/** Returns jose's code and the claim for the log. The messages can have text of the sender. */
function reasonOf(thrown: JOSEError): string {
  return "claim" in thrown ? `${thrown.code}: ${thrown.claim}` : thrown.code;
}

/** Returns an e-mail, or the client id of a service token. Neither has blanks, as `admin token (a)` has. */
function actorIn({ email, common_name: commonName }: JWTPayload): string | undefined {
  const actor = typeof email === "string" && email !== "" ? email : commonName;
  return typeof actor === "string" && /^[^\s\p{C}]{1,254}$/u.test(actor) ? actor : undefined;
}
