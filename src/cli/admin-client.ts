/** A typed client of the operator's surface, made from the types of its routes. */
import { hc } from "hono/client";
import type { AdminRoutes } from "../admin/routes.ts";
import type { ErrorBody } from "../errors.ts";

export function adminClient(baseUrl: string, token: string, operator?: string) {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(operator === undefined ? {} : { "X-Operator": operator }),
  };
  return hc<AdminRoutes>(new URL("/admin", baseUrl).href, { headers });
}

/** The body is text as it is, so that int64s keep their digits; the typed client would make it from values. */
export function postOrders(baseUrl: string, token: string, ndjson: string): Promise<Response> {
  return fetch(new URL("/admin/orders", baseUrl), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/x-ndjson" },
    body: ndjson,
  });
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
