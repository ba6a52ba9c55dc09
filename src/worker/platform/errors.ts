/** Errors as clients receive them: one shape, no internal details. */
import { describeProblems, type Problem } from "../text/check-schema.ts";
import { ERROR_STATUS, type ErrorBody, type ErrorCode } from "./error-codes.ts";

/** `Retry-After` of a 503: enough time for a Durable Object or a database to restart. */
const UNAVAILABLE_RETRY_SECONDS = 5;

const MAX_CAUSES = 8;

declare global {
  interface ErrorConstructor {
    /** V8 has this member, and the platform's types lack it. */
    stackTraceLimit: number;
  }
}

/** Why a credential was refused. A 401 does not tell the client the reason (ADR-1). */
export type Refusal = {
  readonly reason: string;
  /** The key's id, if the key is known. */
  readonly keyId?: string;
};

type Options = {
  headers?: Readonly<Record<string, string>>;
  /** Further members of the body, each as JSON text, because an order has integers of 64 bits. */
  members?: Readonly<Record<string, string>>;
  problems?: readonly Problem[];
  cause?: unknown;
  refusal?: Refusal;
};

/** An error response. Clients get `message`, `headers` and `members`. The log gets `cause` and `refusal`. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, string>>;
  /** What is wrong with members of a body or a query. The message has it too, in the names of the API. */
  readonly problems: readonly Problem[];
  readonly refusal: Refusal | undefined;

  constructor(code: ErrorCode, message: string, options: Options = {}) {
    const { stackTraceLimit } = Error;
    // Recording a stack takes longer than the response, and nothing shows the stack of a refusal.
    Error.stackTraceLimit = 0;
    super(message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "ApiError";
    this.code = code;
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
    this.problems = options.problems ?? [];
    this.refusal = options.refusal;
  }
}

export function notFound(message = "The requested resource could not be found."): ApiError {
  return new ApiError("not_found", message);
}

export function invalidRequest(message: string): ApiError {
  return new ApiError("invalid_request", message);
}

/** Only the calls of operators have members that can be wrong. */
export function invalidMembers(...problems: readonly Problem[]): ApiError {
  const members = { problems: JSON.stringify(problems) };
  return new ApiError("invalid_request", describeProblems(problems), { problems, members });
}

/** A part of the body is missing. The client can send the same request again (RFC 9110, section 15.5.9). */
export function requestTimeout(message: string): ApiError {
  return new ApiError("request_timeout", message);
}

export function conflict(message: string): ApiError {
  return new ApiError("conflict", message);
}

/** The database or the limiter cannot be reached. The client may retry. */
export function unavailable(message: string, cause: unknown): ApiError {
  return new ApiError("service_unavailable", message, {
    headers: { "Retry-After": String(UNAVAILABLE_RETRY_SECONDS) },
    cause,
  });
}

/** Returns the thrown value and its causes, outermost first. The list is bounded: causes can form a cycle. */
export function causesOf(thrown: unknown): unknown[] {
  const causes = [thrown];
  for (let error = thrown; error instanceof Error && error.cause !== undefined; error = error.cause) {
    if (causes.length === MAX_CAUSES) break;
    causes.push(error.cause);
  }
  return causes;
}

export function toErrorBody({ code, message }: ApiError): ErrorBody {
  return { code, message, status: ERROR_STATUS[code] };
}

export function renderError(error: ApiError): Response {
  const body = toErrorBody(error);
  const json = JSON.stringify(body);
  const members = Object.entries(error.members).map(([name, member]) => `,"${name}":${member}`);
  const text = `${json.slice(0, -1)}${members.join("")}}`;
  const headers = { "Content-Type": "application/json", "Cache-Control": "no-store", ...error.headers };
  return new Response(text, { status: body.status, headers });
}

/** Makes an error response of any thrown value. An unexpected value gets a fixed message without details. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError("internal_error", "Something went wrong on our side. Please try again later.", {
    cause: thrown,
  });
}
