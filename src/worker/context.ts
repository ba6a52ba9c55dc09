/** What a request can reach: the bindings of wrangler.toml, and its variables. */
import type { Location } from "./auth/key.ts";
import type { Refusal } from "./errors.ts";
import type { KeyLimiter, LimiterBindings } from "./key-limiter.ts";

export type Bindings = LimiterBindings & {
  readonly KEY_LIMITER: DurableObjectNamespace<KeyLimiter>;
  readonly ADMIN_SIGN_IN_IP_RATE_LIMIT: RateLimit;
};

export type Variables = {
  requestId: string;
  /** Set by `authenticate` and `requireAdmin`: when the credential was accepted. */
  authenticatedAtMs?: number;
  /** When the limiter's answer arrived, if the request was admitted. */
  admittedAtMs?: number;
  /** Set by `authenticate`: only routes under /v1 have it. */
  key: Key;
  /** Set when a credential was refused. */
  refusal?: Refusal;
  /** Set by `requireAdmin`: only routes under /admin have it. */
  author: Author;
  /** Set with `author`: whether the operator may change nothing. */
  mayOnlyRead?: boolean;
};

/** Who makes a change, in which request, and when (Unix seconds). */
export type Author = {
  readonly requestId: string;
  readonly actor: string;
  readonly at: number;
};

/** What a request says of its key. Only the key's limiter knows more. */
export type Key = {
  readonly id: string;
  readonly location: Location | null;
  /** SHA-256 of the whole key. */
  readonly hash: string;
};

export type AppEnv = { Bindings: Bindings; Variables: Variables };
