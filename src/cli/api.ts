/** Calls the admin API. Any unexpected answer is a `CliError`. */
import { isRecord, type Problem } from "../worker/text/check-schema.ts";
import { type Access, isLocal } from "./access.ts";
import { CliError } from "./io.ts";
import { printableLines } from "./output.ts";

export type Query = Readonly<Record<string, unknown>>;

/** `text` is the body exactly as it came. */
export type Answer<Body> = { readonly text: string; readonly body: Body };

/** A load of 5,000 orders takes a few seconds. */
const TIMEOUT_SECONDS = 60;
/** Calls that change nothing, or nothing more when they are repeated. */
const REPEATABLE = /^(GET |PUT \/orders$|POST \/orders\/ship$)/;
const MAY_BE_MADE = "The change may have been made: look, then try again.";

type RequestInput = { readonly query?: Query; readonly json?: object | string };

/** Sends a text as it is, with every digit of its integers. Leaves out members that are undefined. */
export async function send<Body>(
  access: Access,
  line: string,
  given: RequestInput = {},
): Promise<Answer<Body>> {
  const { text, value } = await answerTo(access, line, given, "application/json", objectIn);
  return { text, body: value as Body }; // as the route answers
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a list as CSV, without a BOM. */
export async function sendForCsv(access: Access, line: string, query: Query): Promise<string> {
  const given = { query: { ...query, format: "csv" } };
  return (await answerTo(access, line, given, "text/csv", printableLines)).value;
}

/** `read` returns undefined if the answer is not one of this service. */
async function answerTo<Value>(
  { baseUrl, headers, tokenFile }: Access,
  line: string,
  { query = {}, json }: RequestInput,
  type: string,
  read: (text: string) => Value | undefined,
) {
  const [method = "", path = ""] = line.split(" ");
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const url = `${baseUrl}/admin${path}${parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : ""}`;
  const body = json === undefined ? {} : { body: typeof json === "string" ? json : JSON.stringify(json) };
  const lost = REPEATABLE.test(line) ? unreachable : (text: string) => unreachable(`${text} ${MAY_BE_MADE}`);
  const { response, text } = await exchange(baseUrl, new Request(url, { method, headers, ...body }), lost);
  if (!response.ok) throw refusalOf(response, text, tokenFile, lost);
  const value = response.headers.get("Content-Type")?.startsWith(type) ? read(text) : undefined;
  if (value === undefined)
    throw lost(`${baseUrl} does not answer as this service does. Is it the right address?`);
  return { response, text, value };
}

function unreachable(message: string): CliError {
  return new CliError(message, { code: "unreachable" });
}

/** Node's and undici's codes for a connection that was never made, so nothing was sent. */
const NEVER_MADE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_SSL\w*)$/;
/** Node's codes for a certificate that it does not accept. Nothing was sent either. */
const NOT_TRUSTED =
  /CERT|UNABLE_TO_VERIFY|^(HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_EXCEEDED|INVALID_PURPOSE)/;

/** Sends a request and reads the whole answer. `lost` makes the error of a request that may have arrived. */
async function exchange(
  baseUrl: string,
  request: Request,
  lost: typeof unreachable,
): Promise<{ readonly response: Response; readonly text: string }> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
    // After a redirect, fetch would make a GET of a POST, and drop the token on another host.
    const response = await fetch(request, { redirect: "manual", signal });
    return { response, text: await response.text() };
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
      throw lost(`${baseUrl} did not answer within ${TIMEOUT_SECONDS} seconds.`);
    }
    const { code = "" } = originOf(thrown);
    if (NOT_TRUSTED.test(code)) {
      throw unreachable(
        `The certificate of ${baseUrl} is not trusted (${code}). If your network has a certificate of its own, set NODE_EXTRA_CA_CERTS to its file, or NODE_USE_SYSTEM_CA=1 if your system knows it.`,
      );
    }
    if (!NEVER_MADE.test(code)) throw lost(`The connection to ${baseUrl} broke.`);
    throw unreachable(
      `${baseUrl} cannot be reached${isLocal(baseUrl) ? ". Is it running (npm start)?" : "."}`,
    );
  }
}

/** fetch's error has a cause with a code. With a proxy, this cause has another. */
function originOf(thrown: unknown): { readonly code?: string } {
  const { cause } = Object(thrown);
  return cause === undefined ? Object(thrown) : originOf(cause);
}

function refusalOf(
  { status, headers }: Response,
  text: string,
  tokenFile: string | undefined,
  lost: typeof unreachable,
): CliError {
  const { code = "failed", message = `The service answered ${status}.`, problems = [] } = errorIn(text);
  const refused = (reason: string) => new CliError(reason, { status, code, problems });
  if (headers.get("Location")?.includes("/cdn-cgi/access/login")) {
    return refused(
      "Cloudflare Access asks to sign in: set CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET of a service token, or CF_ACCESS_TOKEN to what `cloudflared access token` prints.",
    );
  }
  if (status < 400) return refused(`The service answered ${status}: use the address that it redirects to.`);
  if (message === "The requested resource could not be found.") {
    return refused("The admin API is not available: the Worker needs the secret ADMIN_TOKEN.");
  }
  if (code === "unauthorized") {
    const must =
      tokenFile === undefined
        ? "ADMIN_TOKEN must be the Worker's secret of this name; npm start has it in .dev.vars."
        : `The token of ${tokenFile} is not that of the service that answers. Is it the service of another checkout?`;
    return refused(`${message} ${must}`);
  }
  // The message of the service's own 503 already says whether the change may have been made.
  return status >= 500 && code !== "service_unavailable" ? lost(message) : refused(message);
}

/** Reads the service's Error object. Another server can answer with any body. */
function errorIn(text: string): { code?: string; message?: string; problems?: Problem[] } {
  const { code, message, problems } = objectIn(text) ?? {};
  if (typeof message !== "string" || typeof code !== "string") return {};
  return { code, message, problems: Array.isArray(problems) ? problems : [] };
}
