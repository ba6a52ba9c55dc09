/** A typed client of the operator's surface, made from the types of its routes. */
import { hc } from "hono/client";
import type { AdminRoutes } from "../worker/admin/routes/admin-routes.ts";
import type { ErrorBody } from "../worker/error-codes.ts";

/** Where the service is, and who speaks to it. */
export type Access = {
  readonly baseUrl: string;
  readonly token: string;
  /** For the audit; without it the service writes `operator`. */
  readonly operator?: string;
};

/** Followed, a redirection would make a GET of a POST and leave the token behind. */
const STAY: RequestInit = { redirect: "manual" };

export function adminClient(access: Access) {
  return hc<AdminRoutes>(new URL("/admin", access.baseUrl).href, {
    headers: requestHeaders(access),
    init: STAY,
  });
}

/** The body is text as it is, so that int64s keep their digits; the typed client would make it from values. */
export function postOrders(access: Access, ndjson: string): Promise<Response> {
  return fetch(new URL("/admin/orders", access.baseUrl), {
    ...STAY,
    method: "POST",
    headers: { ...requestHeaders(access), "Content-Type": "application/x-ndjson" },
    body: ndjson,
  });
}

function requestHeaders({ token, operator }: Access): Record<string, string> {
  const authorization = { Authorization: `Bearer ${token}` };
  return operator === undefined ? authorization : { ...authorization, "X-Operator": operator };
}

export type AdminClient = ReturnType<typeof adminClient>;

/** What the service answered instead of success. */
export class AdminFailure extends Error {}

export async function failureOf(response: {
  status: number;
  text(): Promise<string>;
}): Promise<AdminFailure> {
  const text = await response.text();
  if (response.status === 404 && text.includes('"The requested resource could not be found."')) {
    return new AdminFailure(
      "The operator's surface is not there: is ADMIN_TOKEN set in the Worker, with 32 characters or more?",
    );
  }
  if (response.status >= 300 && response.status < 400) {
    return new AdminFailure(
      `The service answered ${response.status}: give the address that it redirects to.`,
    );
  }
  return new AdminFailure(messageIn(text) ?? `The service answered ${response.status}.`);
}

function messageIn(text: string): string | undefined {
  try {
    // The service's one error shape; anything else falls through to undefined.
    return (JSON.parse(text) as Partial<ErrorBody>).message;
  } catch {
    return undefined;
  }
}
