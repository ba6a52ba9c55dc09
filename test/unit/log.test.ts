/** Log lines: their shape, their bounds, and the masking of secrets. */
import { DrizzleQueryError } from "drizzle-orm/errors";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it, type MockInstance, vi } from "vitest";
import { logError, logRequest } from "../../src/worker/platform/log.ts";
import { anyText } from "../support/any-text.ts";
import { mintKey } from "../support/mint.ts";

const { key: KEY } = await mintKey();
const TOKEN = "the-admin-token.with~all-sorts+of/characters=";

let lines: string[];
let spies: MockInstance[];

beforeEach(() => {
  lines = [];
  const capture = (line: string) => void lines.push(line);
  spies = [
    vi.spyOn(console, "log").mockImplementation(capture),
    vi.spyOn(console, "error").mockImplementation(capture),
  ];
});

afterEach(() => {
  for (const spy of spies) spy.mockRestore();
});

function logged(): string {
  return lines.at(-1) ?? "";
}

/** Text that contains a secret. */
const secretText = fc
  .tuple(
    fc.string(),
    fc.constantFrom(KEY, `Bearer ${TOKEN}`, `bearer   ${KEY}`, `BEARER ${TOKEN}`),
    fc.string(),
  )
  .map(([before, secret, after]) => `${before} ${secret} ${after}`);

/** Errors with a secret in any part, and with causes. */
const thrownWithSecrets = fc
  .array(fc.record({ text: secretText, name: secretText }), { minLength: 1, maxLength: 3 })
  .map((errors) =>
    errors.reduce<unknown>(
      (cause, { text, name }) => Object.assign(new Error(text, { cause }), { name }),
      "the root cause",
    ),
  );

describe("a log line", () => {
  it("has the text of a failed query without the values that were bound to it", ({ expect }) => {
    const thrown = new DrizzleQueryError(
      "select ? as a",
      ["Mx Owner\n    at x", "$&"],
      new Error("D1_ERROR"),
    );
    logError("request_failed", thrown);
    const { error } = JSON.parse(logged());
    expect(error.message).toBe("Failed query: select ? as a");
    expect(error.stack).toMatch(/^Error: Failed query: select \? as a\n +at /);
    expect(error.cause.message).toBe("D1_ERROR");
    expect(logged()).not.toMatch(/Owner|\$&/);
  });

  it("has no key or bearer token of what is thrown, and is one JSON object", ({ expect }) => {
    fc.assert(
      fc.property(thrownWithSecrets, secretText, (thrown, context) => {
        logError("request_failed", thrown, { requestId: context });
        expect(logged()).not.toContain(KEY);
        expect(logged()).not.toContain(KEY.slice(4));
        expect(logged()).not.toContain(TOKEN);
        expect(logged()).not.toContain("\n");
        expect(JSON.parse(logged())).toMatchObject({ event: "request_failed", error: {} });
      }),
    );
  });

  it("has no control or bidirectional character, and keeps the text", ({ expect }) => {
    fc.assert(
      fc.property(anyText, (text) => {
        logError("request_failed", text);
        expect(logged()).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
        expect(JSON.parse(logged()).error.message).toBe(text);
      }),
    );
    logError("request_failed", "\u001b[2J\u007f\u009b1m\u202e");
    expect(logged()).toContain("\\u001b[2J\\u007f\\u009b1m\\u202e");
  });

  it("masks secrets in the members of a request line", ({ expect }) => {
    logRequest({
      requestId: "1",
      method: `GET ${KEY}`,
      route: `/v1/${KEY}`,
      status: 200,
      durationMs: 1,
      weight: 1,
    });
    expect(JSON.parse(logged())).toEqual({
      event: "request",
      requestId: "1",
      method: "GET sok_***",
      route: "/v1/sok_***",
      status: 200,
      durationMs: 1,
      weight: 1,
    });
  });

  it("has the type and text of a thrown value that is not an Error", ({ expect }) => {
    logError("request_failed", `refused ${KEY}`);
    expect(JSON.parse(logged()).error).toEqual({ name: "string", message: "refused sok_***" });
    logError("request_failed", `no such link: sol_${"a".repeat(40)}!`);
    expect(JSON.parse(logged()).error).toEqual({ name: "string", message: "no such link: sol_***!" });
    logError("request_failed", undefined);
    expect(JSON.parse(logged()).error).toEqual({ name: "undefined", message: "undefined" });
  });

  it("has a bounded length if a text is huge or causes form a cycle", ({ expect }) => {
    const first = new Error("x".repeat(1_000_000));
    first.cause = new Error(KEY, { cause: first });
    logError("request_failed", first);
    expect(logged().length).toBeLessThan(100_000);
    expect(logged()).not.toContain(KEY);
  });
});
