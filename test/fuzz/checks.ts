/** What must be true of each answer. */
import { ERROR_STATUS } from "../../src/worker/platform/error-codes.ts";
import type { Exchange } from "./exchange.ts";
import { type Input, methodOf, type Target } from "./input.ts";
import type { Answer } from "./responses.ts";

/** What workerd answers to broken HTTP before the Worker sees a request. Its texts are fixed. */
export const ANSWERS_OF_WORKERD: readonly { status: number; body: RegExp; to?: (input: Input) => boolean }[] =
  [
    {
      status: 400,
      body: /^invalid (?:URI|HTTP (?:header|method|version)|content-length|transfer-encoding) parsed$|^invalid URI$/,
    },
    { status: 400, body: /^Bad Request$/ },
    { status: 501, body: /^ERROR: Unrecognized request method\.$/ },
    { status: 500, body: /^Internal Server Error$/, to: (input) => methodOf(input) === "CONNECT" },
    { status: 414, body: /^URI too long$/, to: ({ requestLine }) => requestLine.length > 65_000 },
    {
      status: 431,
      body: /^message head is too large$/,
      to: ({ headers }) => headers.join("").length > 480_000 || headers.length > 16_384,
    },
  ];

/** None of the inputs has such text. */
const INTERNAL =
  /(?:\n|\\n)\s+at |SQLITE|D1_|D1:|drizzle|valibot|node_modules|\.[jt]s:\d|no such (?:table|column)|(?:Type|Range|Syntax|Reference)Error/;

/** Undefined if nothing is wrong. */
export function problemOf({ input, answers, problem }: Exchange, target: Target): string | undefined {
  if (problem !== undefined) return problem;
  for (const answer of answers) {
    const wrong = isFromWorker(answer)
      ? problemOfWorker(answer, input, target)
      : problemOfWorkerd(answer, input);
    if (wrong !== undefined) return `${wrong}: ${answer.status} ${answer.body.slice(0, 300)}`;
  }
  return undefined;
}

/** Undefined if no line has a credential, or a character that could change how a terminal shows the line. */
export function problemOfLog(
  lines: readonly string[],
  { key, unknownKeys, adminToken }: Target,
): string | undefined {
  const secrets = [key, adminToken, ...unknownKeys];
  const wrong = lines.find(
    (line) => secrets.some((each) => line.includes(each)) || /[\p{Cc}\p{Bidi_Control}]/u.test(line),
  );
  return wrong === undefined
    ? undefined
    : `the log has a credential or a control character: ${JSON.stringify(wrong).slice(0, 500)}`;
}

export function isFromWorker({ headers }: Answer): boolean {
  return headers.has("x-request-id");
}

function problemOfWorkerd({ status, body }: Answer, input: Input): string | undefined {
  const isKnown = ANSWERS_OF_WORKERD.some(
    (each) => each.status === status && each.body.test(body) && (each.to?.(input) ?? true),
  );
  return isKnown ? undefined : "an answer without X-Request-Id, which workerd is not known to give";
}

function problemOfWorker(answer: Answer, input: Input, target: Target): string | undefined {
  const { status, headers, body } = answer;
  if (status >= 500) return "a 5xx";
  if (INTERNAL.test(body)) return "internal text";
  if (body.includes(target.key) || body.includes(target.adminToken)) return "a credential in the body";
  // No input has the character in a text that can be stored.
  if (body.includes("\ufffd")) return "a character that was replaced";
  if (input.kind.endsWith("not UTF-8") && status < 400) return "admitted a body that is not UTF-8";
  const missing = missingHeader(answer);
  if (missing !== undefined) return `no valid ${missing}`;
  if (methodOf(input) === "TRACE" && status < 400) return "TRACE is carried out";
  const isWrongCredential = input.kind.endsWith("wrong") || input.kind.endsWith("wrong token");
  if (isWrongCredential && status !== 401) return "admitted with a wrong credential";
  if (status < 400 || methodOf(input) === "HEAD") return undefined;
  if (!headers.get("content-type")?.startsWith("application/json")) return "an error that is no JSON";
  return isErrorBody(body, status) ? undefined : "not the Error shape";
}

const NUMBER = /^\d+$/;

function missingHeader({ status, headers }: Answer): string | undefined {
  const required: [string, RegExp][] = [
    ["x-ratelimit-limit", NUMBER],
    ["x-ratelimit-remaining", NUMBER],
    ["x-ratelimit-reset", NUMBER],
    ["x-content-type-options", /^nosniff$/],
    ["strict-transport-security", /max-age=31536000/],
    ["content-security-policy", /default-src 'none'/],
    ...(status === 401 ? [["www-authenticate", /^Bearer realm=/] as [string, RegExp]] : []),
    ...(status === 405 ? [["allow", /^[A-Z, ]+$/] as [string, RegExp]] : []),
    ...(status === 429 ? [["retry-after", NUMBER] as [string, RegExp]] : []),
  ];
  return required.find(([name, shape]) => !shape.test(headers.get(name) ?? ""))?.[0];
}

const OTHER_MEMBERS: Readonly<Record<number, readonly string[]>> = {
  400: ["refused", "problems"],
  412: ["current"],
};

function isErrorBody(text: string, status: number): boolean {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null) return false;
    const { code, message, status: inBody, ...others } = body as Record<string, unknown>; // an object, checked above
    const known = new Map<unknown, number>(Object.entries(ERROR_STATUS));
    return (
      known.get(code) === status &&
      inBody === status &&
      typeof message === "string" &&
      message !== "" &&
      message.length < 3_000 &&
      // A change that came too late has `current`, a load of orders `refused`, and input of an operator `problems`.
      Object.keys(others).every((name) => OTHER_MEMBERS[status]?.includes(name))
    );
  } catch {
    return false;
  }
}
