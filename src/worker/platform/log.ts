/** Structured log lines. A client may put a key anywhere, so secrets are masked and paths are patterns. */

import type { Counted } from "hono-durable-limiter";
import { escapeControls } from "../text/text.ts";
import { causesOf } from "./errors.ts";

export type RequestLine = {
  readonly requestId: string;
  readonly method: string;
  readonly status: number;
  /** The caller of /admin or /console, as the audit log names the caller. */
  readonly operator?: string;
  /** The pattern that matched (`/v1/store/orders/:orderId`), never the path itself. */
  readonly route: string;
  readonly durationMs: number;
  /** How many requests the line stands for. */
  readonly weight: number;
  readonly keyId?: string;
  readonly plan?: string;
  readonly verdict?: Counted["kind"];
  /** The value of `X-RateLimit-Remaining`. */
  readonly remaining?: number;
  /** How much of the day's limit is used, in whole percent. */
  readonly dayPercent?: number;
  /**
   * How long each step waited: a Worker's clock stands still while code runs. A step that did not end has no
   * time.
   */
  readonly authenticateMs?: number;
  readonly limitMs?: number;
  readonly routeMs?: number;
  /** Why a 401 was answered, or a 403 to plain HTTP, and the client's network. */
  readonly reason?: string;
  readonly network?: string;
};

/** Longer texts in a line are cut. */
const MAX_TEXT_CHARS = 4_000;

/** What decides whether a request has a line. */
type Logged = Pick<RequestLine, "requestId" | "method" | "status" | "operator">;

/** Refusals, errors, operators and cancels always have a line, whatever `LOG_REQUESTS` says. */
export function isAlwaysLogged({ method, status, operator }: Omit<Logged, "requestId">): boolean {
  const isRefused = status === 401 || status === 403 || status === 429;
  return isRefused || status >= 500 || operator !== undefined || method === "DELETE";
}

/** How many requests a line stands for: 0, 1 or `oneIn`. The random request id decides. A `oneIn` of 0 is none. */
export function weightOf(line: Logged, oneIn: number): number {
  if (oneIn === 1 || isAlwaysLogged(line)) return 1;
  return Number.parseInt(line.requestId.slice(0, 8), 16) % oneIn === 0 ? oneIn : 0;
}

export function logRequest(line: RequestLine): void {
  console.log(serialise({ event: "request", ...line }));
}

/** Logs an event that happened outside a request. */
export function logEvent(event: string, context: Record<string, string | number>): void {
  console.log(serialise({ event, ...context }));
}

/** Logs the name, message, stack and causes of the thrown value. `context` is for ids and counts. */
export function logError(
  event: string,
  thrown: unknown,
  context: Record<string, string | number> = {},
): void {
  console.error(serialise({ event, ...context, error: describe(thrown) }));
}

type Described = { name: string; message: string; stack?: string | undefined; cause?: Described };

function describe(thrown: unknown): Described {
  return causesOf(thrown)
    .map(describeOne)
    .reduceRight((cause, described) => ({ ...described, cause }));
}

function describeOne(thrown: unknown): Described {
  if (!(thrown instanceof Error)) return { name: typeof thrown, message: String(thrown) };
  const message = withoutBoundValues(thrown.message);
  return { name: thrown.name, message, stack: thrown.stack?.replace(thrown.message, () => message) };
}

/** drizzle's message of a failed query ends with the query's parameters, such as names and hashes. */
function withoutBoundValues(message: string): string {
  const [query = ""] = message.split("\nparams: ");
  return query;
}

/** Masks secrets in every text. Few lines have a secret, so the whole line is searched first. */
function serialise(line: object): string {
  const plain = JSON.stringify(line);
  const json =
    plain.length > MAX_TEXT_CHARS || MAY_BE_SECRET.test(plain) ? JSON.stringify(line, mask) : plain;
  // JSON.stringify leaves some of these characters as they are.
  return escapeControls(json);
}

const MAY_BE_SECRET = /so[kl]_|bearer/i;

/** Masks API keys, codes of owners' links, and any text after `Bearer`. */
function mask(_name: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const masked = value.replace(/(so[kl]_)[0-9A-Za-z]+/g, "$1***").replace(/(bearer)\s+\S+/gi, "$1 ***");
  return masked.slice(0, MAX_TEXT_CHARS);
}
