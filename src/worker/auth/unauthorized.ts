/** The 401 of a request under /v1. It is the same for all causes (ADR-1), which only the log tells apart. */
import { ApiError, DOCS_LINK, type Refusal } from "../errors.ts";

const CHALLENGE = 'Bearer realm="store-orders"';

/** RFC 6750, 3.1: without a credential the challenge carries no error code. */
export function missingKey(): ApiError {
  return unauthorized(CHALLENGE, { reason: "missing" });
}

export function invalidKey(refusal: Refusal): ApiError {
  return unauthorized(`${CHALLENGE}, error="invalid_token"`, refusal);
}

function unauthorized(challenge: string, refusal: Refusal): ApiError {
  return new ApiError("unauthorized", "Missing or invalid API key.", {
    headers: { "WWW-Authenticate": challenge, Link: DOCS_LINK },
    refusal,
  });
}
