/** What went wrong with a call of the admin API, and what the operator can do. Pure, except `asProblem`. */
import { ADMIN_TOKEN_RULE } from "../../worker/admin/admin-token.ts";

export type ProblemKind =
  | "unauthorized"
  | "no-admin-api"
  | "too-many-attempts"
  | "redirected"
  | "unreachable"
  | "cut-off"
  | "unavailable"
  | "conflict"
  | "made"
  | "not-found"
  | "invalid"
  | "failed";

/** `message` says what happened, `advice` what to do. Neither ever contains a token or a secret. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly advice: string;

  constructor(kind: ProblemKind, message: string, advice: string) {
    super(message);
    this.kind = kind;
    this.advice = advice;
  }
}

/** The message of every 404 without a more exact one: also that of the whole admin API when it is switched off. */
const NOTHING_HERE = "The requested resource could not be found.";

/** `status` 0 stands for a redirect, which is not followed: the token would go to another address. */
export function problemOf(status: number, body: string): Problem {
  const message = memberIn(body, "message");
  if (status === 0 || (status >= 300 && status < 400))
    return new Problem(
      "redirected",
      "The service answered with a redirect.",
      "If it is behind a sign-in such as Cloudflare Access, reload this page to sign in there. Otherwise use the address that it redirects to.",
    );
  if (status === 401)
    return new Problem(
      "unauthorized",
      "The service refused the admin token.",
      "Sign in with the value of the Worker's secret ADMIN_TOKEN. For a local instance it is in .dev.vars.",
    );
  if (status === 404 && message === NOTHING_HERE)
    return new Problem(
      "no-admin-api",
      "This service has no admin API.",
      `Set the secret ADMIN_TOKEN in the Worker. It needs ${ADMIN_TOKEN_RULE}.`,
    );
  if (status === 404) return new Problem("not-found", message ?? "It does not exist.", "Check the id.");
  if (status === 408)
    return new Problem(
      "cut-off",
      message ?? "The request did not arrive completely.",
      "Check your connection, then try again.",
    );
  if (status === 409 && memberIn(body, "code") === "repeated_call")
    return new Problem(
      "made",
      message ?? "The change was made, and its answer was lost.",
      "Reload to see the present state. If the change made a secret, rotate the key: it cannot be shown again.",
    );
  if (status === 409)
    return new Problem(
      "conflict",
      message ?? "Another change contradicts this one.",
      "Nothing was changed. Reload to see the present state, then decide again.",
    );
  if (status === 400)
    return new Problem("invalid", message ?? "The request is not valid.", "Correct it and try again.");
  if (status === 429)
    return new Problem(
      "too-many-attempts",
      "Too many wrong tokens were sent from your address.",
      "Wait a minute, then try again.",
    );
  if (status === 503)
    return new Problem(
      "unavailable",
      message ?? "The service is not available for the moment.",
      "Try again in a few seconds. After a change, first look whether it was made.",
    );
  return new Problem(
    "failed",
    message ?? `The service answered ${status}.`,
    "Try again; after a change, first look whether it was made. If it happens again, look into the logs of the Worker.",
  );
}

export function unreachable(): Problem {
  return new Problem(
    "unreachable",
    "The service could not be reached.",
    "Check your connection, then try again. After a change, first look whether it was made.",
  );
}

/** The call that was answered so has changed nothing. */
const REFUSED: ReadonlySet<ProblemKind> = new Set([
  "unauthorized",
  "no-admin-api",
  "too-many-attempts",
  "invalid",
  "conflict",
  "not-found",
]);

/** Whether a failed call may have changed something nevertheless. With `isInParts`, calls before it may have, but all are valid or none. */
export function mayBeMade(thrown: unknown, isInParts = false): boolean {
  if (!(thrown instanceof Problem)) return true;
  return isInParts ? thrown.kind !== "invalid" : !REFUSED.has(thrown.kind);
}

/** What else is thrown, such as for an answer of another shape, goes to the browser's console: its message may have a secret. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  reportError(thrown);
  return new Problem(
    "failed",
    "Something unexpected happened.",
    "Reload the page and look whether a change was made, then try again. The browser's console has the error.",
  );
}

/** The message of the service's Error object. */
function memberIn(body: string, name: "code" | "message"): string | undefined {
  try {
    const value: unknown = Object(JSON.parse(body))[name];
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
