/** The console's client of the admin API, made from the types of its routes. */
import { hc } from "hono/client";
import type { AdminRoutes } from "../../worker/admin/routes/admin-routes.ts";
import { problemOf, unreachable } from "./problem.ts";
import { randomId } from "./random-id.ts";
import type { OpenSession, Session } from "./session.ts";

export function adminClient(session: Session & Partial<OpenSession>) {
  // If redirects were followed, a POST would become a GET.
  const init = { redirect: "manual", signal: session.ended ?? null } as const;
  return hc<AdminRoutes>("/admin", { headers: () => ({ ...headersOf(session), ...newCall() }), init });
}

export type AdminClient = ReturnType<typeof adminClient>;

/** The part of a response that is read here: of the typed client's, and of the browser's own. */
type Answer = { readonly ok: boolean; readonly status: number; text(): Promise<string> };

/** Also those that only some variants of an answer have. */
type MemberOf<T> = T extends unknown ? keyof T : never;

/** The JSON of a successful answer. Throws a `Problem` if it lacks one of these members: an answer of a proxy in between can have status 200, too. */
export async function jsonOf<T>(
  call: Promise<Answer & { json(): Promise<T> }>,
  ...members: readonly MemberOf<T>[]
): Promise<T> {
  const response = await answered(call);
  const json = await response.json().catch(() => {
    throw unreachable();
  });
  if (members.every((member) => Object.hasOwn(Object(json), member))) return json;
  throw unreachable();
}

export async function textOf(call: Promise<Answer>): Promise<string> {
  return bodyOf(await answered(call));
}

/** Throws a `Problem` if the answer is not CSV, as `jsonOf` does. */
export async function csvOf(call: Promise<Answer & { readonly headers: Headers }>): Promise<string> {
  const response = await answered(call);
  if (!response.headers.get("Content-Type")?.startsWith("text/csv")) throw unreachable();
  return bodyOf(response);
}

function bodyOf(response: Answer): Promise<string> {
  return response.text().catch(() => {
    throw unreachable();
  });
}

async function answered<A extends Answer>(call: Promise<A>): Promise<A> {
  const response = await call.catch(() => {
    throw unreachable();
  });
  if (response.ok) return response;
  throw problemOf(response.status, await response.text().catch(() => ""));
}

/** Orders travel as text, so that int64s keep their digits; the typed client would parse and serialize numbers. */
export function fetchOrders(session: OpenSession, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`/admin/orders${path}`, {
    ...init,
    redirect: "manual",
    signal: session.ended,
    headers: { ...headersOf(session), ...newCall(), "Content-Type": "application/json" },
  });
}

/** The browser can send a call again by itself, and the service then refuses the second one. */
function newCall(): Record<string, string> {
  return { "Idempotency-Key": randomId() };
}

function headersOf({ token, operator }: Session): Record<string, string> {
  return {
    ...(token === "" ? {} : { Authorization: `Bearer ${token}` }),
    ...(operator === "" ? {} : { "X-Operator": operator }),
  };
}
