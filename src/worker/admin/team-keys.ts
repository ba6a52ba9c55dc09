/** The public keys of a Cloudflare Access team, as one isolate has them. Requests that need the same read share it. */
import type { JWTVerifyGetKey } from "jose";
import { JWKSNoMatchingKey } from "jose/errors";
import { createLocalJWKSet } from "jose/jwks/local";
import { ApiError, UNAVAILABLE_RETRY_SECONDS } from "../errors.ts";
import { MAX_JOINED_REQUESTS, SingleFlight } from "../single-flight.ts";

/** A key that the team has withdrawn is accepted for at most this long. */
const MAX_AGE_MS = 600_000;

/** An unknown key id, which anyone can make up, causes no read within this time after one that succeeded. */
const MIN_MS_AFTER_READ = 30_000;

/** No request causes a read within this time after one that failed: the `Retry-After` of its 503. */
const MIN_MS_AFTER_FAILURE = UNAVAILABLE_RETRY_SECONDS * 1000;

const READ_TIMEOUT_MS = 5_000;

type Keys = ReturnType<typeof createLocalJWKSet>;
type WaitUntil = (promise: Promise<unknown>) => void;

export class TeamKeys {
  readonly #url: string;
  readonly #reads = new SingleFlight<Keys>(READ_TIMEOUT_MS, MAX_JOINED_REQUESTS);
  #last: { readonly keys: Keys; readonly atMs: number } | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(teamDomain: string) {
    this.#url = `https://${teamDomain}/cdn-cgi/access/certs`;
  }

  /** Finds the key of an assertion. Throws a JWKSNoMatchingKey if the team has no such key, another error if a read failed. */
  getKey(waitUntil: WaitUntil): JWTVerifyGetKey {
    return async (header, token) => {
      const last = this.#last;
      if (!last || !isWithin(last.atMs, MAX_AGE_MS)) return (await this.#read(waitUntil))(header, token);
      try {
        return await last.keys(header, token);
      } catch (thrown) {
        if (!(thrown instanceof JWKSNoMatchingKey) || isWithin(last.atMs, MIN_MS_AFTER_READ)) throw thrown;
        return (await this.#read(waitUntil))(header, token);
      }
    };
  }

  async #read(waitUntil: WaitUntil): Promise<Keys> {
    if (isWithin(this.#failedAtMs, MIN_MS_AFTER_FAILURE))
      throw new Error("the last read failed a moment ago");
    try {
      return await this.#reads.run("keys", () => this.#fetch(), waitUntil);
    } catch (thrown) {
      // Otherwise too many requests wait for the read, which may succeed.
      if (!(thrown instanceof ApiError)) this.#failedAtMs = Date.now();
      throw thrown;
    }
  }

  async #fetch(): Promise<Keys> {
    const response = await fetch(this.#url, {
      redirect: "manual",
      signal: AbortSignal.timeout(READ_TIMEOUT_MS),
    });
    if (response.status !== 200) throw new Error(`the team's keys were answered with ${response.status}`);
    const keys = createLocalJWKSet(await response.json());
    this.#last = { keys, atMs: Date.now() };
    return keys;
  }
}

function isWithin(atMs: number, ms: number): boolean {
  const ageMs = Date.now() - atMs;
  return ageMs >= 0 && ageMs < ms;
}
