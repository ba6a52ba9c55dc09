/** Who Cloudflare Access says is calling: checks the assertion that it adds to each request (ADR-21). */

import type { JWTPayload } from "jose";
import { JOSEError, JWKSInvalid, JWTClaimValidationFailed, JWTExpired } from "jose/errors";
import { jwtVerify } from "jose/jwt/verify";
import { ApiError, unavailable } from "../errors.ts";
import { TeamKeys } from "./team-keys.ts";

/** The header that Access sets. A client cannot send its own through Access, and one that reaches the Worker directly is checked. */
export const ASSERTION_HEADER = "Cf-Access-Jwt-Assertion";

/** Access sends it as a cookie too, of which browsers keep 4,096 bytes. A request that waits for the team's keys keeps it in memory. */
export const MAX_ASSERTION_CHARS = 8_192;

/**
 * Of its first part, the JOSE header. Access writes an `alg`, a `typ` and a key id of 64 hex digits into it: 134 characters. jose has
 * it parsed while the request waits, and 8 kB of nested arrays would take 100 kB.
 */
const MAX_JOSE_HEADER_CHARS = 512;

export type AccessSettings = {
  readonly teamDomain: string;
  /** The audience tags of the Access applications that may call. */
  readonly audiences: readonly string[];
};

/** Cloudflare's clocks and the isolate's are synchronised; this covers what is left. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** The claim `type` of what Access sends to applications. The token of a person's session with the team is `org`. */
const APPLICATION_TOKEN = "app";

const keysOfTeams = new Map<string, TeamKeys>();

function keysOf(teamDomain: string): TeamKeys {
  const keys = keysOfTeams.get(teamDomain) ?? new TeamKeys(teamDomain);
  keysOfTeams.set(teamDomain, keys);
  return keys;
}

export type Identity =
  | { readonly ok: true; readonly actor: string }
  /** `reason` is for the log. */
  | { readonly ok: false; readonly reason: string };

/** Throws a 503 if the team's public keys cannot be read, so that nothing is proven either way. */
export async function identityOf(
  assertion: string,
  settings: AccessSettings,
  waitUntil: (promise: Promise<unknown>) => void,
): Promise<Identity> {
  if (isTooLong(assertion)) return { ok: false, reason: "too long" };
  try {
    const { payload } = await jwtVerify(assertion, keysOf(settings.teamDomain).getKey(waitUntil), {
      algorithms: ["RS256"],
      issuer: `https://${settings.teamDomain}`,
      audience: [...settings.audiences],
      requiredClaims: ["exp", "iat"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    if (payload.type !== APPLICATION_TOKEN) return { ok: false, reason: "no application token" };
    const actor = actorIn(payload);
    return actor === undefined ? { ok: false, reason: "names nobody" } : { ok: true, actor };
  } catch (thrown) {
    if (isInvalid(thrown)) return { ok: false, reason: reasonOf(thrown) };
    if (thrown instanceof ApiError) throw thrown;
    throw unavailable("Cloudflare Access cannot be reached, so the identity cannot be checked.", thrown);
  }
}

function isTooLong(assertion: string): boolean {
  return assertion.length > MAX_ASSERTION_CHARS || assertion.indexOf(".") > MAX_JOSE_HEADER_CHARS;
}

/** As opposed to: the public keys could not be read. */
function isInvalid(thrown: unknown): thrown is JOSEError {
  return thrown instanceof JOSEError && !(thrown instanceof JWKSInvalid);
}

/** jose's code and the claim, for the log. The messages can have text of the sender, as long as a header of a request. */
function reasonOf(thrown: JOSEError): string {
  const isOfClaim = thrown instanceof JWTClaimValidationFailed || thrown instanceof JWTExpired;
  return isOfClaim ? `${thrown.code}: ${thrown.claim} ${thrown.reason}` : thrown.code;
}

/** A person's e-mail, or the client id of a service token. Never with blanks, which the name of a token's user has. */
function actorIn({ email, common_name: commonName }: JWTPayload): string | undefined {
  const actor = typeof email === "string" && email !== "" ? email : commonName;
  return typeof actor === "string" && /^[^\s\p{C}]{1,254}$/u.test(actor) ? actor : undefined;
}
