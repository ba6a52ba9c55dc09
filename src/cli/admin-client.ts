/** A typed client of the admin API, made from the types of its routes. */
import { hc } from "hono/client";
import { ADMIN_TOKEN_RULE } from "../worker/admin/admin-token.ts";
import { canChange } from "../worker/admin/can-change.ts";
import type { AdminRoutes } from "../worker/admin/routes/admin-routes.ts";
import { shortened } from "./printable.ts";

/** Where the service is, and the credentials for its admin API. */
export type Access = {
  readonly baseUrl: string;
  /** Not needed behind Cloudflare Access. */
  readonly token?: string | undefined;
  /** The credentials for Cloudflare Access. */
  readonly accessHeaders?: Readonly<Record<string, string>>;
  /** The name for the audit log; without it the service writes `operator`. */
  readonly operator?: string;
  /** Aborts requests in flight. */
  readonly signal?: AbortSignal;
  /** Called before a request is sent that can change something. */
  readonly onChange?: () => void;
  /** How long to wait for the whole answer of a request. */
  readonly timeoutSeconds?: number;
};

/** An import of 5,000 orders takes a few seconds. */
export const DEFAULT_TIMEOUT_SECONDS = 60;

export function adminClient(access: Access) {
  return hc<AdminRoutes>(new URL("/admin", access.baseUrl).href, {
    headers: requestHeaders(access),
    fetch: (input: RequestInfo | URL, init: RequestInit = {}) =>
      send(access, new URL(input instanceof Request ? input.url : input), init),
  });
}

/** The body is sent as text, so that int64s keep their digits; the typed client would serialize values. */
export function postOrders(
  access: Access,
  query: Readonly<Record<string, string>>,
  ndjson: string,
): Promise<Response> {
  return send(access, new URL(`/admin/orders?${new URLSearchParams(query)}`, access.baseUrl), {
    method: "POST",
    headers: { ...requestHeaders(access), "Content-Type": "application/x-ndjson" },
    body: ndjson,
  });
}

async function send(access: Access, url: URL, init: RequestInit): Promise<Response> {
  const dryRun = url.searchParams.get("dry-run") ?? undefined;
  if (canChange(init.method ?? "GET", url.pathname, dryRun)) access.onChange?.();
  const { status, headers, body } = await fetch(url, { ...init, ...requestInit(access) });
  if (status > 599) throw new LostAnswer(`${access.baseUrl} answered ${status}, as this service never does.`);
  // Without the status text: fetch accepts some that Response refuses, such as `403 Refusé`.
  return new Response(body?.pipeThrough(bounded(access)) ?? null, { status, headers });
}

/** The service's longest answer has 10,000 refused lines, each with a reason of 500 characters, which have up to 6 bytes. */
const MAX_ANSWER_MB = 64;

/** Without it, another server could fill the memory until the timeout. */
function bounded({ baseUrl }: Access): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= MAX_ANSWER_MB * 1024 * 1024) return controller.enqueue(chunk);
      throw new LostAnswer(
        `${baseUrl} does not answer as this service does: it sends more than ${MAX_ANSWER_MB} MB. Is it the right address?`,
      );
    },
  });
}

/** If redirects were followed, a POST would become a GET, without its token on another host. */
export function requestInit({ signal, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }: Access): RequestInit {
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
  return { redirect: "manual", signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]) };
}

function requestHeaders({ token, accessHeaders, operator }: Access): Record<string, string> {
  return {
    ...accessHeaders,
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(operator === undefined ? {} : { "X-Operator": operator }),
  };
}

/** Cloudflare's error 1102: the Worker used up its CPU time or memory. */
const WORKER_LIMITS = /\berror (code: )?1102\b/i;

export async function isOverWorkerLimits(response: Response): Promise<boolean> {
  return response.status >= 500 && WORKER_LIMITS.test(await response.clone().text());
}

export type AdminClient = ReturnType<typeof adminClient>;

/** More than any message of the service has. Another server can send any text. */
const MAX_MESSAGE_CHARS = 1_000;

/** A failure that the operator is shown as one line, without a stack. */
export class AdminFailure extends Error {}

/** No answer of the service came, or none that says what was done. The request may have been carried out. */
export class LostAnswer extends AdminFailure {}

/** The service's own 503. Its message says what is not known. */
export class Unavailable extends AdminFailure {}

/** The service's own 404 or 409: the object is gone, or its state does not allow the request. */
export class NotAllowedByState extends AdminFailure {}

/** What was typed cannot be carried out. Nothing was sent. */
export class ArgumentsError extends AdminFailure {}

export async function failureOf(response: {
  status: number;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
}): Promise<AdminFailure> {
  const text = await response.text();
  if (response.status === 404 && text.includes('"The requested resource could not be found."')) {
    return new AdminFailure(
      `The admin API is not available. The Worker needs an ADMIN_TOKEN of ${ADMIN_TOKEN_RULE}.`,
    );
  }
  if (response.headers.get("Location")?.includes("/cdn-cgi/access/login")) {
    return new AdminFailure(
      "Cloudflare Access asks to sign in. Set CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET of a service token, or CF_ACCESS_TOKEN to what `cloudflared access token` prints.",
    );
  }
  if (response.status >= 300 && response.status < 400) {
    return new AdminFailure(`The service answered ${response.status}: use the address that it redirects to.`);
  }
  if (WORKER_LIMITS.test(text)) {
    return new LostAnswer(
      "Cloudflare ended the request: it needs more CPU time or memory than the Worker has (error 1102).",
    );
  }
  const { code, message } = errorIn(text);
  const Failure = classFor(response.status, code);
  if (message === undefined) return new Failure(`The service answered ${response.status}.`);
  if (code === "unauthorized" && message.includes("admin token")) {
    return new AdminFailure(
      "The service refused the admin token. ADMIN_TOKEN must be the Worker's secret of this name; npm start has it in .dev.vars, or in its --vars-file.",
    );
  }
  const shown = code === "invalid_request" ? withOptionNames(message) : message;
  return new Failure(shortened(shown, MAX_MESSAGE_CHARS));
}

function classFor(status: number, code: string | undefined): typeof AdminFailure {
  if (code === "service_unavailable") return Unavailable;
  if (code === "not_found" || code === "conflict") return NotAllowedByState;
  return status >= 500 ? LostAnswer : AdminFailure;
}

/** Of the service's Error object. Another server's answer can have members of these names that are not text, or have none. */
function errorIn(text: string): { readonly code: string | undefined; readonly message: string | undefined } {
  const { code, message } = objectIn(text);
  const textOf = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value : undefined);
  return { code: textOf(code), message: textOf(message) };
}

function objectIn(json: string): { readonly code?: unknown; readonly message?: unknown } {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
}

/** What was typed, where it is not an option with the name of the field that it sets. */
const OPTION_OF_FIELD: Readonly<Record<string, string>> = {
  file: "the name of the file",
  requestsPerMinute: "--per-minute",
  requestsPerDay: "--per-day",
  ownerName: "--owner",
  location: "--location-hint",
  graceSeconds: "--grace, in seconds",
  seconds: "--for, in seconds",
  to: "--until",
  before: "--after",
};

/** `requestsPerDay: is required; name: …` with the options that were typed. */
function withOptionNames(message: string): string {
  return message.replace(
    /(^|; )(\w+): /g,
    (_, before, field) => `${before}${OPTION_OF_FIELD[field] ?? optionNamed(field)}: `,
  );
}

function optionNamed(field: string): string {
  return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
