/** What a request can reach: the bindings of wrangler.toml, and its variables. */

import type { RateLimiter } from "hono-durable-limiter";
import type { DatabaseEnv } from "./db/database.ts";
import type { Location } from "./key/key.ts";
import type { OwnerCode } from "./key/owner-code.ts";
import type { KeyLimiterEnv } from "./key/reach-limiter.ts";
import type { Refusal } from "./platform/errors.ts";

export type Bindings = DatabaseEnv &
  KeyLimiterEnv & {
    readonly OWNER_LIMITER: DurableObjectNamespace<RateLimiter>;
    readonly ADMIN_SIGN_IN_IP_RATE_LIMIT: RateLimit;
  };

export type Variables = {
  requestId: string;
  /** When `authenticate` or `requireAdmin` accepted the credential. */
  authenticatedAtMs?: number;
  /** When the limiter's answer arrived, if the request was admitted. */
  admittedAtMs?: number;
  /** Only routes under /v1 have a key. `authenticate` sets it. */
  key: Key;
  /** Why a credential was refused. */
  refusal?: Refusal;
  /** Only routes of the operator have an author. `requireAdmin` sets it. */
  author: Author;
  /** Only routes under /owner have a code and its link. */
  ownerCode: OwnerCode;
  ownerLink: OwnerLink;
  /** Whether the author may change nothing. */
  mayOnlyRead?: boolean;
};

/** The live link of an owner's page. Times are in Unix seconds. */
export type OwnerLink = {
  readonly id: string;
  readonly customerId: string;
  readonly customerName: string;
  readonly endsAt: number;
  readonly openedAt: number | null;
};

/** The person or program that makes a change, the request, and the time in Unix seconds. */
export type Author = {
  readonly requestId: string;
  readonly actor: string;
  readonly at: number;
};

/** What a request tells about its key. Only the key's limiter knows more. */
export type Key = {
  readonly id: string;
  readonly location: Location | null;
  /** SHA-256 of the whole key. */
  readonly hash: string;
};

export type AppEnv = { Bindings: Bindings; Variables: Variables };
