/** The parts of the fuzzer: inputs, responses as bytes, and what is found wrong in an answer. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { adminKinds } from "../../fuzz/admin-inputs.ts";
import { problemOf, problemOfLog } from "../../fuzz/checks.ts";
import { clientKinds } from "../../fuzz/client-inputs.ts";
import { type Input, printable, type Target, utf8 } from "../../fuzz/input.ts";
import { type Answer, parseResponses } from "../../fuzz/responses.ts";

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

describe("the inputs", () => {
  it("are Latin-1, so that each character is a byte", ({ expect }) => {
    for (const [kind, request] of Object.entries({ ...clientKinds(target), ...adminKinds(target) })) {
      for (const { requestLine, headers, body } of fc.sample(request, 50))
        expect([requestLine, ...headers, body].join(""), kind).toMatch(/^[\0-\xff]*$/);
    }
    expect(Buffer.from(utf8("é😀"), "latin1").toString()).toBe("é😀");
    expect([...Buffer.from(utf8("\ud800"), "latin1")]).toEqual([0xed, 0xa0, 0x80]);
  });

  it("are printed without credentials", ({ expect }) => {
    expect(printable(input, target)).toBe(
      'path: "GET /v1/x HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer $KEY\\r\\n\\r\\n", then complete',
    );
  });
});

describe("responses as bytes", () => {
  const parse = (text: string, methods: string[], isClosed = false) =>
    parseResponses(Buffer.from(text), methods, isClosed);

  it("are read by length, by chunks, to the end, and without a body", ({ expect }) => {
    const text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\nto the end";
    const { answers, rest } = parse(text, ["GET", "GET", "HEAD", "DELETE", "GET"], true);
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, "ok"],
      [200, "abc"],
      [200, ""],
      [204, ""],
      [400, "to the end"],
    ]);
    expect(rest).toBe(0);
  });

  it("are left if they are not whole or no responses", ({ expect }) => {
    expect(parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", ["GET"])).toEqual({
      answers: [],
      rest: 40,
    });
    expect(parse("hello", ["GET"], true)).toEqual({ answers: [], rest: 5 });
  });
});

describe("what is wrong in an answer", () => {
  it("is nothing in a right one", ({ expect }) => {
    expect(problem(answer(404, error("not_found", 404)))).toBeUndefined();
    expect(problem(answer(200, []))).toBeUndefined();
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
    expect(problemOfLog(['{"event":"request"}'], target)).toBeUndefined();
    expect(problemOfLog(['{"network":"sok_key"}'], target)).toMatch(/credential/);
  });
});
