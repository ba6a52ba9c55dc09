/** Error codes, error responses, and which D1 errors are outages. */

import { DrizzleQueryError } from "drizzle-orm";
import { describe, it } from "vitest";
import { isDatabaseOutage } from "../../src/worker/db/database.ts";
import { ERROR_STATUS } from "../../src/worker/platform/error-codes.ts";
import { ApiError, renderError, toApiError, unavailable } from "../../src/worker/platform/errors.ts";

describe("the error codes", () => {
  // Written out again, since clients rely on each code: a change must be made here as well.
  it("are a fixed set, each with one status", ({ expect }) => {
    expect(ERROR_STATUS).toEqual({
      invalid_request: 400,
      unauthorized: 401,
      https_required: 403,
      not_allowed: 403,
      other_site: 403,
      read_only: 403,
      not_found: 404,
      order_not_found: 404,
      method_not_allowed: 405,
      request_timeout: 408,
      conflict: 409,
      order_already_shipped: 409,
      order_not_cancellable: 409,
      gone: 410,
      changed_meanwhile: 412,
      precondition_failed: 412,
      content_too_large: 413,
      rate_limit_exceeded: 429,
      key_banned: 429,
      internal_error: 500,
      service_unavailable: 503,
    });
  });
});

describe("an error response", () => {
  it("has code, message and status, the error's headers and no-store, and not the cause", async ({
    expect,
  }) => {
    const options = { headers: { Allow: "GET, HEAD" }, cause: new Error("internal") };
    const response = renderError(new ApiError("method_not_allowed", "no", options));
    expect(response.status).toBe(405);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      allow: "GET, HEAD",
      "cache-control": "no-store",
      "content-type": "application/json",
    });
    expect(await response.json()).toEqual({ code: "method_not_allowed", message: "no", status: 405 });
  });

  it("of an outage has a Retry-After", ({ expect }) => {
    const response = renderError(unavailable("The database cannot be reached.", new Error("overloaded")));
    expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "5"]);
  });
});

describe("a thrown value", () => {
  it("that is no ApiError becomes an internal_error with a fixed message", async ({ expect }) => {
    for (const thrown of [new Error("secret"), "secret", undefined, { code: "secret" }]) {
      const error = toApiError(thrown);
      expect(error.cause).toBe(thrown);
      expect(await renderError(error).json()).toEqual({
        code: "internal_error",
        message: "Something went wrong on our side. Please try again later.",
        status: 500,
      });
    }
    const known = new ApiError("not_found", "gone");
    expect(toApiError(known)).toBe(known);
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
});
