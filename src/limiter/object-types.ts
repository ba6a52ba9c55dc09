/** What the object is given, and what it answers beside verdicts. */
import type { BanRule } from "./core/bans.ts";
import type { Banned, Facts, Request, Thresholds } from "./core/decide.ts";
import type { Limit, Quota } from "./core/windows.ts";
import type { SharedNamespace } from "./shared.ts";

/**
 * What a subclass gives to the constructor.
 *
 * @example
 * const options: RateLimiterOptions = {
 *   policyMaxAgeMs: 86_400_000,
 *   policyRefreshMs: 600_000,
 *   thresholds: { window: "minute", percents: [80, 100] },
 * };
 */
export type RateLimiterOptions = {
  /** No decision is made by an older policy. The default is 60,000. */
  readonly policyMaxAgeMs?: number | undefined;
  /** An older policy decides and is loaded again in the background. The default is half the maximum age. */
  readonly policyRefreshMs?: number | undefined;
  /** The shares of a window that are reported at once. */
  readonly thresholds?: Thresholds | undefined;
  /** Keeps the storage of an idle object for ever. */
  readonly keep?: boolean | undefined;
  /** The namespace of the limiters that policies name as `shared`. */
  readonly shared?: SharedNamespace | undefined;
};

/** The limits and bans of a call count only if the class has no `loadPolicy`. */
export type LimiterCall = Request & {
  /** The form of the call. An object of another version ignores members that it does not know. */
  readonly version?: number | undefined;
  readonly limits?: readonly Limit<string>[] | undefined;
  /** Bans clients that go on after refusals. By default no client is banned. */
  readonly bans?: BanRule | undefined;
  /** How long the caller can wait. The `retryAfterMs` of a limited request is then the caller's turn. */
  readonly waitMs?: number | undefined;
};

/** The present state of a key. */
export type Inspection = {
  readonly quota: Quota;
  readonly facts: Facts;
  /** The ban or block that would refuse a request now. */
  readonly ban: Banned["ban"] | null;
  readonly strikes: number;
  /** The last request was sent then or later in that window: its minute, if there is a limit per minute. */
  readonly lastRequestMs: number | null;
};
