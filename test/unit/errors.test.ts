/** Error codes, error responses, and which D1 errors are outages. */

import { DrizzleQueryError, sql } from "drizzle-orm";
import fc from "fast-check";
import { describe, it } from "vitest";
import { isDatabaseOutage, openDatabase, transact } from "../../src/worker/db/database.ts";
import { ERROR_STATUS, type ErrorCode } from "../../src/worker/error-codes.ts";
import {
  ApiError,
  causesOf,
  renderError,
  toApiError,
  UNAVAILABLE_RETRY_SECONDS,
  unavailable,
} from "../../src/worker/errors.ts";

// The keys of the table are its type's members, which `Object.keys` does not know.
const codes = Object.keys(ERROR_STATUS) as ErrorCode[];

describe("the error codes", () => {
  // Written out again, since clients rely on each code: a change must be made here as well.
  it("are a fixed set, each with one status", ({ expect }) => {
    expect(ERROR_STATUS).toEqual({
      invalid_request: 400,
      unauthorized: 401,
      https_required: 403,
      not_found: 404,
      method_not_allowed: 405,
      request_timeout: 408,
      conflict: 409,
      repeated_call: 409,
      order_already_shipped: 409,
      order_not_cancellable: 409,
      gone: 410,
      content_too_large: 413,
      uri_too_long: 414,
      rate_limit_exceeded: 429,
      key_banned: 429,
      internal_error: 500,
      service_unavailable: 503,
    });
  });
});

describe("renderError", () => {
  it("returns code, message and status as JSON, with the status of the code and no-store", async ({
    expect,
  }) => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...codes), fc.string({ unit: "grapheme" }), async (code, message) => {
        const response = renderError(new ApiError(code, message, { cause: new Error("internal") }));
        expect(response.status).toBe(ERROR_STATUS[code]);
        expect(response.headers.get("Content-Type")).toBe("application/json");
        expect(response.headers.get("Cache-Control")).toBe("no-store");
        expect(await response.json()).toEqual({ code, message, status: ERROR_STATUS[code] });
      }),
    );
  });

  it("adds the error's own headers", ({ expect }) => {
    const error = new ApiError("method_not_allowed", "no", { headers: { Allow: "GET, HEAD" } });
    expect(renderError(error).headers.get("Allow")).toBe("GET, HEAD");
  });
});

describe("a thrown value", () => {
  it("that is an ApiError is returned unchanged", ({ expect }) => {
    const error = new ApiError("not_found", "gone");
    expect(toApiError(error)).toBe(error);
  });

  it("of any other kind becomes an internal_error with a fixed message, and is its cause", async ({
    expect,
  }) => {
    const bodies = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.anything(), fc.string().map(Error)), async (thrown) => {
        const error = toApiError(thrown);
        expect(error.code).toBe("internal_error");
        expect(error.cause).toBe(thrown);
        bodies.add(await renderError(error).text());
      }),
    );
    expect(bodies.size).toBe(1);
  });

  it("that is an outage has a Retry-After", ({ expect }) => {
    const response = renderError(
      unavailable("The database cannot be reached.", new Error("D1 DB is overloaded.")),
    );
    expect(response.status).toBe(503);
    expect(response.headers.get("Retry-After")).toBe(String(UNAVAILABLE_RETRY_SECONDS));
  });

  it("is listed with its causes, outermost first, even if they form a cycle", ({ expect }) => {
    const root = new Error("root");
    const outer = new Error("outer", { cause: root });
    expect(causesOf(outer)).toEqual([outer, root]);
    expect(causesOf("text")).toEqual(["text"]);
    root.cause = outer;
    expect(causesOf(outer).slice(0, 3)).toEqual([outer, root, outer]);
    expect(isDatabaseOutage(outer)).toBe(false);
  });
});

describe("a failure of the database", () => {
  for (const message of [
    "D1_ERROR: Network connection lost.",
    "D1 DB is overloaded. Requests queued for too long.",
    "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.",
    "Cannot resolve D1 DB due to transient issue on remote node.",
    "Internal error in D1 DB storage caused object to be reset.",
    "D1_ERROR: database disk image is full: SQLITE_FULL",
  ]) {
    it(`is an outage if the message is "${message}"`, ({ expect }) => {
      expect(isDatabaseOutage(new Error(message))).toBe(true);
      const wrapped = new Error("Failed query: select 1\nparams: ", { cause: new Error(message) });
      expect(isDatabaseOutage(wrapped)).toBe(true);
    });
  }

  for (const message of [
    "D1_ERROR: no such table: orders: SQLITE_ERROR",
    "D1_ERROR: UNIQUE constraint failed: orders.id: SQLITE_CONSTRAINT",
    "D1_TYPE_ERROR: Type 'bigint' not supported for value '1'",
    "D1_ERROR: string or blob too big: SQLITE_TOOBIG",
    "x is not a function",
  ]) {
    it(`is a bug if the message is "${message}"`, ({ expect }) => {
      expect(isDatabaseOutage(new Error(message))).toBe(false);
      expect(isDatabaseOutage(new Error("Failed query", { cause: new Error(message) }))).toBe(false);
    });
  }

  it("is an outage if a query lost its connection, and none if anything else did, such as an upload", ({
    expect,
  }) => {
    for (const message of ["Network connection lost.", "internal error; reference = 0123456789abcdef"]) {
      const lost = new Error(message);
      expect(isDatabaseOutage(lost)).toBe(false);
      expect(isDatabaseOutage(new Error("Failed query", { cause: lost }))).toBe(false);
      expect(isDatabaseOutage(new DrizzleQueryError("select 1", [], lost))).toBe(true);
    }
  });

  it("is judged by what D1 said, not by texts of the request among the query's parameters", ({ expect }) => {
    const lost = new Error("D1_ERROR: Network connection lost.");
    expect(isDatabaseOutage(new DrizzleQueryError("select ?", ["SQLITE_ERROR"], lost))).toBe(true);
    const bug = new Error("x is not a function");
    expect(isDatabaseOutage(new DrizzleQueryError("select ?", ["D1 DB"], bug))).toBe(false);
  });

  it("is an outage if a batch lost its connection", async ({ expect }) => {
    const batch = () => Promise.reject(new Error("Network connection lost."));
    // The database uses these two members only.
    const client = { prepare: () => ({ bind: () => undefined }), batch } as unknown as D1Database;
    const failed = transact(openDatabase(client), [sql`select 1`]);
    await expect(failed).rejects.toSatisfy(isDatabaseOutage);
  });

  it("is not an outage if the value is not an Error", ({ expect }) => {
    for (const thrown of ["D1_ERROR", undefined, null, { message: "D1_ERROR" }]) {
      expect(isDatabaseOutage(thrown)).toBe(false);
    }
  });
});
