/** Specification 9.3 and 9.1: the deprecated operation before and after its sunset, and versions that do not exist. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { createKey } from "../support/factories.ts";
import { captureLog, startApp } from "../support/worker.ts";

const DEPRECATED = "@1795219200"; // 2026-11-21T00:00:00Z
const SUNSET = "Thu, 05 Dec 2030 00:00:00 GMT";

const app = startApp();

function moveClockTo(time: string): void {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(time) });
}

beforeEach(() => {
  captureLog();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("GET /v1/pets/{petId}", () => {
  it("is 404 not_found until the last second before its sunset", async ({ expect }) => {
    moveClockTo("2030-12-04T23:59:59.999Z");
    const { key } = await createKey();
    const response = await app("/v1/pets/1", { key });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      code: "not_found",
      message: "The requested resource could not be found.",
      status: 404,
    });
  });

  it("is 410 gone from its sunset on", async ({ expect }) => {
    moveClockTo("2030-12-05T00:00:00.000Z");
    const { key } = await createKey();
    const response = await app("/v1/pets/1", { key });
    expect(response.status).toBe(410);
    expect(await response.json()).toEqual({
      code: "gone",
      message: "This operation was removed on 2030-12-05.",
      status: 410,
    });
  });

  for (const time of ["2030-12-04T23:59:59Z", "2030-12-05T00:00:01Z"]) {
    it(`has Deprecation and Sunset on every response, at ${time}`, async ({ expect }) => {
      moveClockTo(time);
      const { key } = await createKey({ perMinute: 3 });
      const answers = [
        await app("/v1/pets/1", { key }),
        await app("/v1/pets/1", { key, method: "HEAD" }),
        await app("/v1/pets/1", { key, method: "POST" }),
        await app("/v1/pets/1", { key }),
        await app("/v1/pets/1"),
      ];
      expect(answers.map((answer) => answer.status).slice(2)).toEqual([405, 429, 401]);
      for (const { headers } of answers) {
        expect(headers.get("Deprecation")).toBe(DEPRECATED);
        expect(headers.get("Sunset")).toBe(SUNSET);
      }
    });
  }

  it("is counted like every other operation", async ({ expect }) => {
    const { key } = await createKey({ perMinute: 10 });
    const remaining = [await app("/v1/pets/1", { key }), await app("/v1/pets/2", { key })].map(
      ({ headers }) => headers.get("X-RateLimit-Remaining"),
    );
    expect(remaining).toEqual(["9", "8"]);
  });

  it("answers HEAD like GET, without a body", async ({ expect }) => {
    const { key } = await createKey();
    const response = await app("/v1/pets/1", { key, method: "HEAD" });
    expect(response.status).toBe(404);
    expect(await response.text()).toBe("");
  });

  it("has the sunset date of the setting", async ({ expect }) => {
    moveClockTo("2027-01-01T00:00:00Z");
    const { key } = await createKey();
    const response = await startApp({ PETS_SUNSET_DATE: "2027-01-01" })("/v1/pets/1", { key });
    expect(response.status).toBe(410);
    expect(response.headers.get("Sunset")).toBe("Fri, 01 Jan 2027 00:00:00 GMT");
  });
});

describe("no other operation on pets", () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    it(`answers ${method} on a pet with 405`, async ({ expect }) => {
      const { key } = await createKey();
      const response = await app("/v1/pets/1", { key, method });
      expect(response.status).toBe(405);
      expect(response.headers.get("Allow")).toBe("GET, HEAD");
    });
  }

  for (const path of ["/v1/pets", "/v1/pets/", "/v1/pets/1/photos", "/v1/categories", "/v1/inventory"]) {
    it(`has nothing at ${path}`, async ({ expect }) => {
      const { key } = await createKey();
      const response = await app(path, { key });
      expect(response.status).toBe(404);
      expect(response.headers.get("Deprecation")).toBeNull();
    });
  }
});

describe("the other operations", () => {
  it("have neither Deprecation nor Sunset", async ({ expect }) => {
    const { key } = await createKey();
    const answers = [
      await app("/v1/store/orders", { key }),
      await app("/v1/store/orders/1", { key, method: "DELETE" }),
    ];
    for (const { headers } of answers) {
      expect(headers.get("Deprecation")).toBeNull();
      expect(headers.get("Sunset")).toBeNull();
    }
  });
});

describe("another version's path", () => {
  for (const prefix of ["/v2", "/v0", "/v1.0", "/v10", "/V1", ""]) {
    it(`is 404 at ${prefix}/store/orders, with a key and without`, async ({ expect }) => {
      const { key } = await createKey();
      for (const init of [{ key }, {}]) {
        const response = await app(`${prefix}/store/orders`, init);
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ code: "not_found" });
      }
    });
  }
});
