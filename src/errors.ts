/** The closed set of error codes, their statuses, and the one shape in which an error leaves the service. */

export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  order_already_shipped: 409,
  order_not_cancellable: 409,
  gone: 410,
  rate_limit_exceeded: 429,
  key_banned: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_STATUS;

export type ErrorBody = { readonly code: ErrorCode; readonly message: string; readonly status: number };

/** How long a client should wait after a 503: long enough for a reset object or database to be back. */
export const UNAVAILABLE_RETRY_SECONDS = 5;

const MOST_CAUSES = 8;

/** An answer other than success. `message` and `headers` go to the client; `cause` goes to the log only. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.headers = options.headers ?? {};
  }
}

/** Something the service stands on cannot be reached: the client may come back. */
export function unavailable(message: string, cause: unknown): ApiError {
  return new ApiError("service_unavailable", message, {
    headers: { "Retry-After": String(UNAVAILABLE_RETRY_SECONDS) },
    cause,
  });
}

/** The thrown value and what caused it, outermost first. Bounded, as causes may run in a circle. */
export function causesOf(thrown: unknown): unknown[] {
  const causes = [thrown];
  for (let error = thrown; error instanceof Error && error.cause !== undefined; error = error.cause) {
    if (causes.length === MOST_CAUSES) break;
    causes.push(error.cause);
  }
  return causes;
}

export function renderError(error: ApiError): Response {
  const status = ERROR_STATUS[error.code];
  const body: ErrorBody = { code: error.code, message: error.message, status };
  return Response.json(body, { status, headers: { "Cache-Control": "no-store", ...error.headers } });
}

/** Any thrown value as an answer: a bug becomes a constant sentence, so that nothing internal leaves. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError("internal_error", "Something went wrong on our side. Please try again later.", {
    cause: thrown,
  });
}
