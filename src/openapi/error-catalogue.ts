/** What the document says of each public error code: when it comes, and the message that a client sees. */
import { ERROR_STATUS, type ErrorCode } from "../worker/error-codes.ts";

/** Codes of the operator's surface, which is not part of the public interface. */
export type OperatorCode = "invalid_request" | "conflict";
export type PublicCode = Exclude<ErrorCode, OperatorCode>;

type Entry = {
  readonly when: string;
  /** A test holds it against what the running service answers. */
  readonly message: string;
};

/** A new code does not compile without its entry here, or its place among the operator's. */
export const ERROR_CATALOGUE: Readonly<Record<PublicCode, Entry>> = {
  unauthorized: {
    when: "No API key, or not a valid one. The answer does not tell why it is not.",
    message: "Missing or invalid API key.",
  },
  not_found: {
    when: "No such order or path.",
    message: "The requested resource could not be found.",
  },
  method_not_allowed: {
    when: "The path exists, but not with this method. `Allow` names those that it has.",
    message: "This method is not allowed here; see the Allow header.",
  },
  order_already_shipped: {
    when: "The order has shipped.",
    message: "The order has already shipped and cannot be cancelled.",
  },
  order_not_cancellable: {
    when: "The order is neither pending nor shipped, but for example being processed, or delivered.",
    message: "Only a pending order can be cancelled.",
  },
  gone: {
    when: "The operation's sunset has passed.",
    message: "This operation was removed on 2030-12-05.",
  },
  rate_limit_exceeded: {
    when: "The limit of a window is used up; the message names the window. Or too many unknown keys came from one address.",
    message: "The limit of 60 requests per minute is used up. Retry after the time in Retry-After.",
  },
  key_banned: {
    when: "The key is banned for a time; the message says until when.",
    message: "This API key is banned until 2026-11-21T10:05:00Z. Requests until then change nothing.",
  },
  internal_error: {
    when: "A mistake on our side.",
    message: "Something went wrong on our side. Please try again later.",
  },
  service_unavailable: {
    when: "Something that the service stands on cannot be reached for the moment.",
    message: "The rate limiter cannot be reached. The request was not carried out.",
  },
};

// Object.keys widens to string; the catalogue's type says which keys it has.
export const PUBLIC_CODES = Object.keys(ERROR_CATALOGUE) as PublicCode[];

export function statusOf(code: PublicCode): number {
  return ERROR_STATUS[code];
}
