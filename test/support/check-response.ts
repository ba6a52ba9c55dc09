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

/** Node's clock and workerd's can differ by this much. */
const TOLERANCE_MS = 20;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

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

type Window = {
  readonly limit: number;
  readonly remaining: number;
  readonly waitSeconds: number;
  readonly endsAtMs: number;
  readonly lengthMs: number;
};
/** Those of the key, and those of its customer, if it has a limit. The shorter ones come first. */
type Windows = { readonly minute: Window; readonly day: Window; readonly others: readonly Window[] };

/** The figures are true at one moment between the sending and the reading. */
function problemsWithFigures(exchange: Exchange): string[] {
  let problems: string[] = [];
  const { sentAtMs, readAtMs } = exchange;
  const toleranceMs = sentAtMs === readAtMs ? 0 : TOLERANCE_MS; // a clock that the test has set
  for (let nowMs = sentAtMs - toleranceMs; nowMs < readAtMs + toleranceMs + 250; nowMs += 250) {
    problems = [...problemsAt(exchange, Math.min(nowMs, readAtMs + toleranceMs))];
    if (problems.length === 0) break;
  }
  return problems;
}

function* problemsAt(exchange: Exchange, nowMs: number): Generator<string> {
  const { status, headers } = exchange.response;
  const shown = ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`)).join(" ");
  const wait = Number(headers.get("Retry-After"));
  if (status === 503 && wait !== 5) yield "not the wait of a 503";
  const windows = windowsOf(headers, nowMs);
  const decision = decisionOn(exchange);
  if (!windows) {
    if (decision === "yes") yield "not both of RateLimit and RateLimit-Policy";
    if (headers.has("RateLimit") || headers.has("RateLimit-Policy"))
      yield "one of RateLimit and RateLimit-Policy";
    // A 429 without a key is the limit of an address.
    const [end, isShown] =
      status === 429
        ? [Math.ceil(nowMs / 1000) + wait, /^[1-9]\d* 0 /.test(shown)]
        : [endOf(MINUTE_MS, nowMs) / 1000, shown.startsWith("0 0 ")];
    if (!isShown || !shown.endsWith(` ${end}`)) yield `X-RateLimit ${shown} shows no end of ${end}`;
    return;
  }
  if (decision === "no") yield "RateLimit without a decision on a key";
  const bannedUntilMs = status === 429 ? banOf(exchange, windows) : undefined;
  const { minute, day, others } = windows;
  const resetMs = Number(headers.get("X-RateLimit-Reset")) * 1000;
  for (const { waitSeconds, endsAtMs } of [minute, day, ...others]) {
    const expected = secondsUntil(bannedUntilMs === undefined ? endsAtMs : resetMs, nowMs);
    if (waitSeconds !== expected) yield `a wait of ${waitSeconds} in RateLimit instead of ${expected}`;
  }
  const expected = shownBy(windows, status, bannedUntilMs);
  if (!expected.includes(shown)) yield `X-RateLimit ${shown} instead of ${expected.join(" or ")}`;
  if (status !== 429) return;
  if ([minute, day, ...others].every(({ remaining }) => remaining > 0)) yield "a 429 with requests left";
  if (wait !== Math.min(2_147_483, secondsUntil(resetMs, nowMs)))
    yield `Retry-After ${wait} is not the wait until X-RateLimit-Reset`;
}

/** What the X-RateLimit headers can be. */
function shownBy(
  { minute, day, others }: Windows,
  status: number,
  bannedUntilMs: number | undefined,
): string[] {
  const triple = ({ limit, remaining, endsAtMs }: Pick<Window, "limit" | "remaining" | "endsAtMs">) =>
    `${limit} ${remaining} ${endsAtMs / 1000}`;
  if (status !== 429) {
    const windows = [minute, day, ...others];
    const least = Math.min(...windows.map(({ remaining }) => remaining));
    const nearest = windows.filter(({ remaining }) => remaining === least);
    return [triple(nearest.reduce((a, b) => (b.lengthMs > a.lengthMs ? b : a)))];
  }
  if (bannedUntilMs === undefined) {
    // What the key refuses, its customer is not asked for.
    const refuses = [day, minute, ...others.toReversed()].find(({ remaining }) => remaining === 0);
    return [triple(refuses ?? minute)];
  }
  // During a ban RateLimit shows 0 for both windows: it does not say whether a window is used up for longer.
  const longer = [minute, day].filter(({ endsAtMs }) => endsAtMs >= bannedUntilMs);
  return [{ ...minute, endsAtMs: bannedUntilMs }, ...longer].map(triple);
}

/** When the ban ends that refuses the request. HEAD has no body: then the ban ends at X-RateLimit-Reset. */
function banOf({ method, body, response }: Exchange, { minute, day }: Windows): number | undefined {
  if (method === "HEAD") {
    const isBan = minute.remaining === 0 && day.remaining === 0 && minute.waitSeconds === day.waitSeconds;
    return isBan ? Number(response.headers.get("X-RateLimit-Reset")) * 1000 : undefined;
  }
  const { code, message } = JSON.parse(body) as { code: string; message: string }; // `problemsOf` checks the shape
  return code === "key_banned" ? Date.parse(/until (\S+Z)/.exec(message)?.[1] ?? "") : undefined;
}

/** Whether the key's limiter has decided. After a failure it may have. */
function decisionOn(exchange: Exchange): "yes" | "no" | "maybe" {
  const { status } = exchange.response;
  const isUnderVersion = /^\/v1(?:\/|$)/.test(pathOf(exchange));
  if (!isUnderVersion || isPreflight(exchange) || status === 401) return "no";
  if (status === 403) return exchange.body.includes('"not_allowed"') ? "yes" : "no";
  return status >= 500 ? "maybe" : "yes";
}

const LENGTHS = { minute: MINUTE_MS, day: DAY_MS, "customer-minute": MINUTE_MS, "customer-day": DAY_MS };

/** Undefined without both of RateLimit-Policy and RateLimit. */
function windowsOf(headers: Headers, nowMs: number): Windows | undefined {
  const items = (name: string) => (headers.get(name) ?? "").split(", ");
  const [policies, left] = [items("RateLimit-Policy"), items("RateLimit")];
  const [minute, day, ...others] = Object.entries(LENGTHS).flatMap(([name, lengthMs]) => {
    const policy = new RegExp(`^"${name}";q=(\\d+);w=${lengthMs / 1000}$`);
    const [, limit] = policies.map((each) => policy.exec(each)).find(Boolean) ?? [];
    const item = new RegExp(`^"${name}";r=(\\d+);t=(\\d+)$`);
    const [, remaining, wait] = left.map((each) => item.exec(each)).find(Boolean) ?? [];
    if (limit === undefined || remaining === undefined) return [];
    const [endsAtMs, waitSeconds] = [endOf(lengthMs, nowMs), Number(wait)];
    return [{ limit: Number(limit), remaining: Number(remaining), waitSeconds, endsAtMs, lengthMs }];
  });
  const isAll = policies.length === left.length && left.length === 2 + others.length;
  return minute && day && isAll ? { minute, day, others } : undefined;
}

export function endOf(lengthMs: number, nowMs: number): number {
  return (Math.floor(nowMs / lengthMs) + 1) * lengthMs;
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.ceil((atMs - nowMs) / 1000);
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
