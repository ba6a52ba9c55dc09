/** What the fuzzer finds wrong in an answer. */
import { describe, it } from "vitest";
import { problemOf, problemOfLog } from "../../fuzz/checks.ts";
import type { Input, Target } from "../../fuzz/input.ts";
import type { Answer } from "../../fuzz/responses.ts";

const target: Target = {
  key: "sok_key",
  unknownKeys: ["sok_unknown"],
  adminToken: "admin-token",
  keyIds: ["key_1"],
  orderIds: ["1"],
};
const input: Input = {
  kind: "path",
  requestLine: "GET /v1/x HTTP/1.1",
  headers: ["Host: localhost", "Authorization: Bearer sok_key"],
  body: "",
  ending: "complete",
};

const HEADERS = {
  "x-request-id": "r1",
  "content-type": "application/json",
  "x-ratelimit-limit": "60",
  "x-ratelimit-remaining": "0",
  "x-ratelimit-reset": "1795273260",
  "x-content-type-options": "nosniff",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "content-security-policy": "default-src 'none'",
};

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, body: text, headers: new Map(Object.entries({ ...HEADERS, ...headers })) };
}

const problem = (answered: Answer, of: Input = input) =>
  problemOf({ input: of, answers: [answered] }, target);
const error = (code: string, status: number, message = "A message.") => ({ code, message, status });

describe("what is wrong in an answer", () => {
  it("is nothing in a right one", ({ expect }) => {
    expect(problem(answer(404, error("not_found", 404)))).toBeUndefined();
    expect(problem(answer(200, []))).toBeUndefined();
    expect(problemOfLog(['{"event":"request"}'], target)).toBeUndefined();
  });

  for (const [name, wrong, found] of [
    ["a 500", answer(500, error("internal_error", 500)), /a 5xx/],
    [
      "a stack",
      answer(400, error("invalid_request", 400, "x\n    at y (z)")),
      /not the Error shape|internal text/,
    ],
    [
      "SQL's words",
      answer(400, error("invalid_request", 400, "D1_ERROR: no such column: x")),
      /internal text/,
    ],
    ["another status in the body", answer(404, error("not_found", 400)), /not the Error shape/],
    ["an unknown code", answer(404, error("missing", 404)), /not the Error shape/],
    ["a further member", answer(404, { ...error("not_found", 404), stack: "" }), /not the Error shape/],
    ["text", answer(404, "Not Found"), /not the Error shape/],
    ["a replaced character", answer(200, { name: "Z\ufffd" }), /a character that was replaced/],
    ["no rate header", answer(200, [], { "x-ratelimit-reset": "" }), /no valid x-ratelimit-reset/],
    ["no challenge", answer(401, error("unauthorized", 401)), /no valid www-authenticate/],
    ["a credential", answer(400, error("invalid_request", 400, "sok_key")), /a credential/],
  ] as const) {
    it(`is found: ${name}`, ({ expect }) => {
      expect(problem(wrong)).toMatch(found);
    });
  }

  it("is an admission of a body that is not UTF-8", ({ expect }) => {
    expect(problem(answer(200, []), { ...input, kind: "admin: body, not UTF-8" })).toMatch(/not UTF-8/);
  });

  it("is an admission with a wrong credential, and an answer that workerd is not known to give", ({
    expect,
  }) => {
    expect(problem(answer(200, []), { ...input, kind: "Authorization, wrong" })).toMatch(/admitted/);
    const bare = { status: 500, headers: new Map(), body: "Internal Server Error" };
    expect(problem(bare)).toMatch(/workerd/);
    expect(problem(bare, { ...input, requestLine: "CONNECT x HTTP/1.1" })).toBeUndefined();
  });

  it("is a credential in the log", ({ expect }) => {
    expect(problemOfLog(['{"network":"sok_key"}'], target)).toMatch(/credential/);
  });
});
