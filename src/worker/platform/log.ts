/** Structured log lines. A client may put a key anywhere, so secrets are masked and paths are patterns. */
import type { Counted } from "hono-durable-limiter";
import { causesOf } from "./errors.ts";

export type RequestLine = {
  readonly requestId: string;
  readonly method: string;
  /** The pattern that matched (`/v1/store/orders/:orderId`), never the path itself. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly keyId?: string;
  readonly plan?: string;
  readonly verdict?: Counted["kind"];
  /** The value of `X-RateLimit-Remaining`. */
  readonly remaining?: number;
  /** The caller of /admin or /console, as the audit log names the caller. */
  readonly operator?: string;
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
  // JSON.stringify does not escape these characters, and they can change how a terminal shows the line.
  return json.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const MAY_BE_SECRET = /sok_|bearer/i;

/** Masks API keys, and any text after `Bearer`. */
function mask(_name: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const masked = value.replace(/sok_[0-9A-Za-z]+/g, "sok_***").replace(/(bearer)\s+\S+/gi, "$1 ***");
  return masked.slice(0, MAX_TEXT_CHARS);
}
