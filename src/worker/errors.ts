/** Errors as they leave the service: one shape, nothing internal. */
import { ERROR_STATUS, type ErrorBody, type ErrorCode } from "./error-codes.ts";

/** How long a client should wait after a 503: long enough for a reset object or database to be back. */
export const UNAVAILABLE_RETRY_SECONDS = 5;

const MAX_CAUSES = 8;

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
    if (causes.length === MAX_CAUSES) break;
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
