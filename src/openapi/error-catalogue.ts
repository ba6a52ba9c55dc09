/** The public error codes in the document: when a code is sent, and an example message. */
import { ERROR_STATUS, type ErrorCode } from "../worker/platform/error-codes.ts";

/** Codes that only the admin API sends. The admin API is not part of the public interface. */
type AdminCode =
  | "invalid_request"
  | "other_site"
  | "read_only"
  | "request_timeout"
  | "conflict"
  | "changed_meanwhile"
  | "content_too_large";
export type PublicCode = Exclude<ErrorCode, AdminCode>;

type Entry = {
  readonly when: string;
  /** A test compares the message with the answer of the running service. */
  readonly message: string;
};

/** A new code does not compile until it has an entry here or among the admin codes. */
export const ERROR_CATALOGUE: Readonly<Record<PublicCode, Entry>> = {
  unauthorized: {
    when: "The API key is missing or invalid.",
    message: "Missing or invalid API key.",
  },
  https_required: {
    when: "The request came over plain HTTP, where others can read the key: replace the key.",
    message: "Use https. A key or token that was sent over http may have been read on the way: replace it.",
  },
  not_found: {
    when: "The path does not exist.",
    message: "The requested resource could not be found.",
  },
  order_not_found: {
    when: "The order never existed, or was cancelled.",
    message: "There is no order 7.",
  },
  method_not_allowed: {
    when: "`Allow` lists the methods of the path.",
    message: "This method is not allowed here; see the Allow header.",
  },
  order_already_shipped: {
    when: "The order has shipped.",
    message: "The order has already shipped and cannot be cancelled.",
  },
  order_not_cancellable: {
    when: "The order is being processed, or was delivered.",
    message: "Only a pending order can be cancelled.",
  },
  precondition_failed: {
    when: "The order is pending and was not cancelled: an order has no `ETag`, so `If-None-Match: *` is false, and so is every `If-Match` except `*`.",
    message: "The condition of the request is false, so the order was not cancelled.",
  },
  gone: {
    when: "The sunset date of the operation has passed.",
    message: "This operation was removed on 2030-12-05.",
  },
  rate_limit_exceeded: {
    when: "The limit of the minute or of the day is used up.",
    message:
      "The limit of 60 requests per minute is used up. Retry in 17 s. 3 of the 20 seconds that lead to a ban are used.",
  },
  key_banned: {
    when: "The key is banned. The message says until when.",
    message: "This API key is banned until 2026-11-21T10:05:00Z.",
  },
  internal_error: {
    when: "An error in the service.",
    message: "Something went wrong on our side. Please try again later.",
  },
  service_unavailable: {
    when: "The database or the rate limiter does not answer, or too many lists are being sent.",
    message: "The rate limiter cannot be reached. The request may have counted.",
  },
};

// Object.keys returns string[], and the type of the catalogue names its keys.
export const PUBLIC_CODES = Object.keys(ERROR_CATALOGUE) as PublicCode[];

export function statusOf(code: PublicCode): number {
  return ERROR_STATUS[code];
}
