/** What is true of every response of the service: its headers, their figures, its body, and the document. */
import { Ajv2020 } from "ajv/dist/2020.js";

export type Exchange = {
  readonly method: string;
  readonly path: string;
  readonly response: Pick<Response, "status" | "headers">;
  readonly body: string;
  /** By the service's clock. */
  readonly sentAtMs: number;
  readonly readAtMs: number;
};

/** Throws if something is wrong with the response. */
export type CheckResponse = (exchange: Exchange) => void;

/** The longest wait that a timer of JavaScript can hold. */
const MAX_RETRY_AFTER_SECONDS = 2_147_483;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const SECURITY_HEADERS = {
  "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** `document`: what /openapi.json answers. */
export function checkResponses(document: unknown): CheckResponse {
  const problemsWithDocument = compareWith(document as Part); // a linter checks its shape
  return (exchange) => {
    const problems = [
      ...problemsOf(exchange),
      ...problemsWithFigures(exchange),
      ...problemsWithDocument(exchange),
    ];
    if (problems.length === 0) return;
    const { method, path, response, body } = exchange;
    const headers = JSON.stringify(Object.fromEntries(response.headers), null, 1);
    const request = `${method} ${path}, ${response.status}`;
    throw new Error(`${request}: ${problems.join("; ")}\n${headers}\n${body.slice(0, 500)}`);
  };
}

/** Whether the response is the answer to a preflight, which the service gives without looking at a key. */
function isPreflight({ method, response }: Exchange): boolean {
  return method === "OPTIONS" && response.status === 204;
}

function* problemsOf(exchange: Exchange): Generator<string> {
  const { method, response, body } = exchange;
  const { status, headers } = response;
  const path = pathOf(exchange);
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    if (headers.get(name) !== value) yield `not the ${name}`;
  if (!UUID.test(headers.get("X-Request-Id") ?? "")) yield "no X-Request-Id";

  const isList = path === "/v1/store/orders" && (status === 200 || status === 304);
  const isPrivate = status >= 400 || /^\/(?:v1|admin|health)(?:\/|$)/.test(path);
  if (!isPreflight(exchange) && isPrivate) {
    const cacheControl = isList ? "private, no-cache" : "no-store";
    if (headers.get("Cache-Control") !== cacheControl) yield `Cache-Control is not ${cacheControl}`;
  }

  const isOfPet = /^\/v1\/pets\/[^/]+$/.test(path) && !isPreflight(exchange);
  const isUnderScope = status === 403 && /"code":"(?:not_allowed|read_only)"/.test(body);
  const due: [name: string, isDue: boolean][] = [
    ["Retry-After", status === 429 || status === 503], // RFC 6585, 4; RFC 9110, 15.6.4
    ["WWW-Authenticate", status === 401 || isUnderScope], // RFC 9110, 15.5.2; RFC 6750, 3
    ["Allow", status === 405], // RFC 9110, 15.5.6
    ["Deprecation", isOfPet], // RFC 9745, 2
    ["Sunset", isOfPet], // RFC 8594, 3
  ];
  for (const [name, isDue] of due) if (headers.has(name) !== isDue) yield `${isDue ? "no" : "a"} ${name}`;

  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  if (hasBody !== (body !== "")) yield hasBody ? "no body" : "a body";
  if (!hasBody) return;
  const isJson = headers.get("Content-Type") === "application/json";
  if (!isJson && (status >= 400 || path.startsWith("/v1"))) yield "no JSON";
  if (status < 400) return;
  if (!isError(body, status)) yield "no Error object";
  const end = "</docs#versions>";
  const ends = isOfPet ? `, ${end}; rel="deprecation", ${end}; rel="sunset"` : "";
  const help = `</docs#${JSON.parse(body).code}>; rel="help"${ends}`; // RFC 8288
  const isOfOperators = /^\/(?:admin|console)(?:\/|$)/.test(path);
  if (!isOfOperators && headers.get("Link") !== help) yield `not the Link ${help}`;
}

/** Three members, no other, and the status of the response. */
function isError(body: string, status: number): boolean {
  const { code, message, ...others } = JSON.parse(body) as Record<string, unknown>; // any JSON object will do
  if (typeof message !== "string" || message === "") return false;
  return /^[a-z]+(?:_[a-z]+)*$/.test(String(code)) && JSON.stringify(others) === `{"status":${status}}`;
}

/** Which figures a response has. That they are true at each moment is shown by the proof of the limiter. */
function* problemsWithFigures(exchange: Exchange): Generator<string> {
  const { response, sentAtMs, readAtMs } = exchange;
  const { status, headers } = response;
  const shown = ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`));
  if (!shown.every((text) => /^\d+$/.test(text ?? ""))) yield `X-RateLimit is ${shown}`;
  const [hasLimit, hasPolicy] = [headers.has("RateLimit"), headers.has("RateLimit-Policy")];
  if (hasLimit !== hasPolicy) yield "one of RateLimit and RateLimit-Policy";
  const decision = decisionOn(exchange);
  if (decision !== "maybe" && hasLimit !== (decision === "yes"))
    yield `${hasLimit ? "" : "no "}RateLimit, and a decision on a key: ${decision}`;
  // A 429 without a key is the limit of an address.
  if (!hasLimit && status !== 429 && !/^0,0,/.test(String(shown))) yield `a quota without a key: ${shown}`;
  const wait = Number(headers.get("Retry-After"));
  if (status === 503 && wait !== 5) yield "not the wait of a 503";
  const startSeconds = Number(shown[2]) - wait;
  const isLong = wait === MAX_RETRY_AFTER_SECONDS;
  const isOfReset = startSeconds >= sentAtMs / 1000 - 1.1 && startSeconds <= readAtMs / 1000 + 1.1;
  if (status === 429 && !isLong && !isOfReset) yield `Retry-After ${wait} is not the wait until ${shown[2]}`;
}

/** Whether the key's limiter has decided. After a failure it may have. */
function decisionOn(exchange: Exchange): "yes" | "no" | "maybe" {
  const { status } = exchange.response;
  const isUnderVersion = /^\/v1(?:\/|$)/.test(pathOf(exchange));
  if (!isUnderVersion || isPreflight(exchange) || status === 401) return "no";
  if (status === 403) return exchange.body.includes('"not_allowed"') ? "yes" : "no";
  return status >= 500 ? "maybe" : "yes";
}

export function endOf(lengthMs: number, nowMs: number): number {
  return (Math.floor(nowMs / lengthMs) + 1) * lengthMs;
}

function pathOf({ path }: Exchange): string {
  return path.split("?")[0] ?? path;
}

/** A part of the document. Its members are what OpenAPI says. */
type Part = { readonly [name: string]: Part } & { readonly $ref?: string; readonly required?: boolean };

/** The formats of the document. int64 goes beyond JavaScript's numbers: other tests compare the digits. */
const FORMATS = {
  int32: true,
  int64: true,
  uuid: UUID,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
} as const;

/** The status, the headers and the body of a response to a documented operation are as the document says. */
function compareWith(document: Part): (exchange: Exchange) => Iterable<string> {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: FORMATS });
  ajv.addSchema(document, "document");
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      path: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      method: method.toUpperCase(),
      pointer: `#/paths/${path.replaceAll("/", "~1")}/${method}/responses`,
      responses,
    })),
  );
  /** The part at a pointer, or at the one that it refers to. */
  const resolve = (pointer: string): { pointer: string; part: Part | undefined } => {
    const names = pointer.slice(2).split("/");
    const at = (part: Part | undefined, name: string) => part?.[name.replaceAll("~1", "/")];
    const part = names.reduce(at, document);
    return part?.$ref === undefined ? { pointer, part } : resolve(part.$ref);
  };
  function* invalid(pointer: string, value: unknown): Generator<string> {
    const validate = ajv.getSchema(`document${encodeURI(pointer)}`);
    if (!validate) yield `the document has no schema at ${pointer}`;
    else if (!validate(value)) yield `${pointer}: ${ajv.errorsText(validate.errors)}`;
  }
  return function* (exchange) {
    const { response, body } = exchange;
    const operation = operations.find(
      (each) => each.path.test(pathOf(exchange)) && each.method === exchange.method,
    );
    if (!operation) return;
    const { pointer, part } = resolve(`${operation.pointer}/${response.status}`);
    if (!part) yield `the document has no ${response.status} here`;
    for (const name of Object.keys(part?.headers ?? {})) {
      const header = resolve(`${pointer}/headers/${name}`);
      const text = response.headers.get(name);
      if (text !== null) yield* invalid(`${header.pointer}/schema`, /^\d+$/.test(text) ? Number(text) : text);
      else if (header.part?.required) yield `no ${name}, which the document requires`;
    }
    if (body === "") return;
    const answer = JSON.parse(body);
    yield* invalid(`${pointer}/content/application~1json/schema`, answer);
    const isExample = part?.content?.["application/json"]?.examples?.[answer.code] !== undefined;
    if (response.status >= 400 && !isExample) yield `the document has no ${answer.code} here`;
  };
}
