/** All error codes, their statuses, and the body of an error. */

/** What clients can get. A test demands each code in src/openapi/openapi.yaml. */
export const CLIENT_ERRORS = {
  invalid_request: 400,
  unauthorized: 401,
  https_required: 403,
  not_allowed: 403,
  not_found: 404,
  order_not_found: 404,
  method_not_allowed: 405,
  order_already_shipped: 409,
  order_not_cancellable: 409,
  gone: 410,
  precondition_failed: 412,
  rate_limit_exceeded: 429,
  key_banned: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const satisfies Record<string, number>;

/** What only operators can get. */
const OPERATOR_ERRORS = {
  other_site: 403,
  read_only: 403,
  request_timeout: 408,
  conflict: 409,
  changed_meanwhile: 412,
  content_too_large: 413,
} as const satisfies Record<string, number>;

export const ERROR_STATUS = { ...CLIENT_ERRORS, ...OPERATOR_ERRORS };

export type ErrorCode = keyof typeof ERROR_STATUS;

export type ErrorBody = { readonly code: ErrorCode; readonly message: string; readonly status: number };
