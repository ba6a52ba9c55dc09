/** A typed client of the admin API, made from the types of its routes. Whatever is not the expected answer is a `CliError`. */
import { hc } from "hono/client";
import type { AdminRoutes } from "../worker/admin/routes.ts";
import { type Access, isLocal } from "./access.ts";
import { CliError } from "./io.ts";

export type AdminClient = ReturnType<typeof adminClient>;

/** A load of 5,000 orders takes a few seconds. */
const TIMEOUT_SECONDS = 60;
/** A load changes nothing when it is repeated. */
const REPEATABLE = /\/admin\/(keys\/find|orders(\?.*)?)$/;
const MAY_BE_MADE = "The change may have been made: look, then try again.";

export function adminClient(access: Access) {
  return hc<AdminRoutes>(`${access.baseUrl}/admin`, {
    headers: access.headers,
    fetch: (input: RequestInfo | URL, init: RequestInit = {}) => send(access, new Request(input, init)),
  });
}

/** The body is sent as text, so that integers of 64 bits keep their digits; the typed client would serialize values. */
export function putOrders(
  access: Access,
  query: Readonly<Record<string, string>>,
  json: string,
): Promise<Response> {
  const url = `${access.baseUrl}/admin/orders?${new URLSearchParams(query)}`;
  return send(access, new Request(url, { method: "PUT", headers: access.headers, body: json }));
}

/** An answer of 2xx with JSON or CSV. Throws for all others. */
async function send({ baseUrl }: Access, request: Request): Promise<Response> {
  const isRepeatable = request.method === "GET" || REPEATABLE.test(request.url);
  const lost = (message: string) => new CliError(isRepeatable ? message : `${message} ${MAY_BE_MADE}`);
  const { response, text } = await exchange(baseUrl, request, lost);
  if (!response.ok) throw refusalOf(response, text, lost);
  if (!/^(application\/json|text\/csv)\b/.test(response.headers.get("Content-Type") ?? "")) {
    throw lost(`${baseUrl} does not answer as this service does. Is it the right address?`);
  }
  return new Response(text, response);
}

/** Of Node and undici, for a connection that was not made, so that nothing was sent. */
const NEVER_MADE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|\w*CERT\w*|UNABLE_TO_VERIFY\w*|ERR_SSL\w*)$/;

/** Sends a request and reads the whole answer. `lost` makes the error of a request that may have arrived. */
export async function exchange(
  baseUrl: string,
  request: Request,
  lost = (message: string) => new CliError(message),
): Promise<{ readonly response: Response; readonly text: string }> {
  try {
    // If redirects were followed, a POST would become a GET, without its token on another host.
    const response = await fetch(request, {
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    });
    return { response, text: await response.text() };
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
      throw lost(`${baseUrl} did not answer within ${TIMEOUT_SECONDS} seconds.`);
    }
    if (!NEVER_MADE.test(codeOf(thrown))) throw lost(`The connection to ${baseUrl} broke.`);
    throw new CliError(
      `${baseUrl} cannot be reached.${isLocal(baseUrl) ? " Is it running (npm start)?" : ""}`,
    );
  }
}

/** `fetch` has the code in the cause of its error. */
function codeOf(thrown: unknown): string {
  const cause: unknown = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

function refusalOf(
  { status, headers }: Response,
  text: string,
  lost: (message: string) => CliError,
): CliError {
  const refused = (message: string) => new CliError(message, { status });
  if (headers.get("Location")?.includes("/cdn-cgi/access/login")) {
    return refused(
      "Cloudflare Access asks to sign in: set CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET of a service token, or CF_ACCESS_TOKEN to what `cloudflared access token` prints.",
    );
  }
  if (status < 400) return refused(`The service answered ${status}: use the address that it redirects to.`);
  const { code, message } = errorIn(text);
  if (message === undefined) {
    return status >= 500
      ? lost(`The service answered ${status}.`)
      : refused(`The service answered ${status}.`);
  }
  if (message === "The requested resource could not be found.") {
    return refused("The admin API is not available: the Worker needs the secret ADMIN_TOKEN.");
  }
  if (code === "unauthorized") {
    return refused(
      `${message} ADMIN_TOKEN must be the Worker's secret of this name; npm start has it in .dev.vars.`,
    );
  }
  // A 503 of the service says itself what is not known.
  return status >= 500 && code !== "service_unavailable" ? lost(message) : refused(message);
}

/** Of the service's Error object. Another server can answer with anything. */
function errorIn(text: string): { readonly code?: string; readonly message?: string } {
  try {
    const { code, message } = Object(JSON.parse(text));
    return typeof message === "string" && typeof code === "string" ? { code, message } : {};
  } catch {
    return {};
  }
}
