/**
 * The specification over HTTP, a test for each sentence and each row: sections 1-3, 9.1 and 9.2. Its section 8 (limits)
 * and 9.3-9.4 (deprecation and stability) have tests of their own.
 */
import { beforeAll, describe, it } from "vitest";
import { LIST } from "../support/service.ts";
import { errorOf, openStore, type Store } from "./specification-support.ts";

let store: Store;

beforeAll(async () => {
  store = await openStore();
});

describe("1 What the service does", () => {
  it("1 A client places and manages orders through two operations: listing all orders and cancelling one", async ({
    expect,
  }) => {
    await store.insertOrder("1001");
    expect(await store.listed(1001)).toEqual({ id: 1001 });
    expect((await store.cancel("1001")).status).toBe(204);
    expect(await store.listed(1001)).toBeUndefined();
  });

  it("1 Exactly these two operations exist on orders: any other method is 405 and names the allowed ones", async ({
    expect,
  }) => {
    const allowed = async (path: string) => {
      const response = await store.service.call(store.key, path, { method: "PUT" });
      expect(response.status).toBe(405);
      await errorOf(response);
      return response.headers.get("Allow")?.split(", ").sort().join();
    };
    expect(await allowed(LIST)).toBe("GET,HEAD");
    expect(await allowed(`${LIST}/1`)).toBe("DELETE");
  });

  it("1 Every request needs authentication, also to a path under /v1 that does not exist", async ({
    expect,
  }) => {
    for (const [method, path] of [
      ["GET", LIST],
      ["DELETE", `${LIST}/1`],
      ["GET", "/v1/x"],
      ["POST", LIST],
    ] as const) {
      expect((await store.service.call(null, path, { method })).status, `${method} ${path}`).toBe(401);
    }
  });

  it("1 Addresses: the path of {base_url} and of {staging_base_url} ends in /v1, which the paths are relative to", async ({
    expect,
  }) => {
    const baseUrl = new URL("/v1", store.service.url).href;
    const headers = { Authorization: `Bearer ${store.key}` };
    expect((await fetch(`${baseUrl}/store/orders`, { headers })).status).toBe(200);
    expect((await store.service.call(store.key, "/store/orders")).status).toBe(404);
  });

  it("1 Operations on pets are not shown: other than the deprecated one, none exists", async ({ expect }) => {
    for (const [method, path] of [
      ["GET", "/v1/pets"],
      ["POST", "/v1/pets"],
      ["GET", "/v1/pets/1/photos"],
    ] as const) {
      expect((await store.service.call(store.key, path, { method })).status, `${method} ${path}`).toBe(404);
    }
    expect((await store.service.call(store.key, "/v1/pets/1", { method: "DELETE" })).status).toBe(405);
  });
});

describe("2 Order", () => {
  it("2 Order: a JSON object with id, petId, quantity, shipDate and complete, and no other field", async ({
    expect,
  }) => {
    await store.insertOrder("2001", {
      pet_id: 7,
      quantity: 2,
      ship_date: "2026-11-21T10:00:00.000Z",
      complete: 0,
    });
    expect(await store.listed(2001)).toEqual({
      id: 2001,
      petId: 7,
      quantity: 2,
      shipDate: "2026-11-21T10:00:00.000Z",
      complete: false,
    });
  });

  it("2 Order: no field is marked required, so one without a value is absent and never null", async ({
    expect,
  }) => {
    await store.insertOrder("2002");
    expect(await store.listText()).toContain('{"id":2002}');
    expect(await store.listText()).not.toContain("null");
  });

  it("2 id: an integer of int64, unique and exact in every digit", async ({ expect }) => {
    for (const id of ["9223372036854775807", "-9223372036854775808", "9007199254740993"]) {
      await store.insertOrder(id);
      expect((await store.listText()).split(`"id":${id}}`)).toHaveLength(2);
      await expect(store.insertOrder(id)).rejects.toThrow(/UNIQUE/);
    }
  });

  it("2 petId: an integer of int64, exact in every digit", async ({ expect }) => {
    for (const [i, petId] of ["9223372036854775807", "-9223372036854775808", "9007199254740993"].entries()) {
      await store.insertOrder(`${2010 + i}`, { pet_id: petId });
      expect(await store.listText()).toContain(`{"id":${2010 + i},"petId":${petId}}`);
    }
  });

  it("2 quantity: an integer without bounds", async ({ expect }) => {
    for (const [i, quantity] of ["0", "-3", "9007199254740993"].entries()) {
      await store.insertOrder(`${2020 + i}`, { quantity });
      expect(await store.listText()).toContain(`{"id":${2020 + i},"quantity":${quantity}}`);
    }
  });

  it("2 shipDate: a string, ISO 8601 date-time", async ({ expect }) => {
    const shipDate = "2027-02-28T23:59:59.999Z";
    await store.insertOrder("2030", { ship_date: shipDate });
    const order = await store.listed(2030);
    expect(order?.shipDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    expect(new Date(order?.shipDate ?? "").toISOString()).toBe(shipDate);
  });

  it("2 complete: a boolean", async ({ expect }) => {
    await store.insertOrder("2040", { complete: 1 });
    await store.insertOrder("2041", { complete: 0 });
    expect((await store.listed(2040))?.complete).toBe(true);
    expect((await store.listed(2041))?.complete).toBe(false);
  });
});

describe("2 Error", () => {
  async function oneOfEach(): Promise<Response[]> {
    await store.service.db
      .prepare("insert or ignore into orders (id, status) values (2050, 'shipped')")
      .run();
    return [
      await store.service.call(null, LIST),
      await store.cancel("2051"),
      await store.service.call(store.key, LIST, { method: "POST" }),
      await store.cancel("2050"),
    ];
  }

  it("2 Error: a JSON object whose fields code, message and status are all present", async ({ expect }) => {
    const bodies = await Promise.all((await oneOfEach()).map((response) => response.json()));
    for (const body of bodies)
      expect(Object.keys(body as object).sort()).toEqual(["code", "message", "status"]);
  });

  it("2 code: a string for machines, the same for the same error", async ({ expect }) => {
    const codes = async () =>
      Promise.all((await oneOfEach()).map(async (each) => (await errorOf(each)).code));
    expect(await codes()).toEqual([
      "unauthorized",
      "not_found",
      "method_not_allowed",
      "order_already_shipped",
    ]);
    expect(await codes()).toEqual(await codes());
  });

  it("2 message: a string for people", async ({ expect }) => {
    for (const response of await oneOfEach())
      expect((await errorOf(response)).message).toMatch(/^[A-Z].*\.$/);
  });

  it("2 status: an integer, the HTTP status code", async ({ expect }) => {
    const responses = await oneOfEach();
    const statuses = await Promise.all(responses.map(async (each) => (await errorOf(each)).status));
    expect(statuses).toEqual([401, 404, 405, 409]);
    expect(responses.map(({ status }) => status)).toEqual(statuses);
  });
});

describe("3 States and transitions", () => {
  it("3 pending: DELETE removes the order by cancellation and answers 204 with no body", async ({
    expect,
  }) => {
    await store.insertOrder("3001", { status: "pending" });
    const response = await store.cancel("3001");
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(await store.listed(3001)).toBeUndefined();
  });

  it("3 shipped: DELETE answers 409 and leaves the order unchanged, as it cannot be reversed", async ({
    expect,
  }) => {
    await store.insertOrder("3002", { status: "shipped", quantity: 1 });
    for (let i = 0; i < 2; i++) expect((await store.cancel("3002")).status).toBe(409);
    expect(await store.listed(3002)).toEqual({ id: 3002, quantity: 1 });
  });

  it("3.1 Only orders with status pending can be cancelled: every other status is 409", async ({
    expect,
  }) => {
    for (const [i, status] of ["processing", "shipped", "delivered"].entries()) {
      await store.insertOrder(`${3010 + i}`, { status });
      expect((await store.cancel(`${3010 + i}`)).status, status).toBe(409);
      expect(await store.listed(3010 + i), status).toEqual({ id: 3010 + i });
    }
  });

  it("3.2 The field that carries the status is not shown: it is in no response", async ({ expect }) => {
    await store.insertOrder("3020", { status: "processing" });
    expect(await store.listText()).not.toMatch(/status|processing/);
  });

  it("3.3 Transitions other than cancellation are not shown: no request of a client makes one", async ({
    expect,
  }) => {
    await store.insertOrder("3030");
    for (const method of ["POST", "PUT", "PATCH"]) {
      const body = JSON.stringify({ status: "shipped", complete: true });
      const response = await store.service.call(store.key, `${LIST}/3030`, { method, body });
      expect(response.status, method).toBe(405);
    }
    expect(await store.listed(3030)).toEqual({ id: 3030 });
    expect((await store.cancel("3030")).status).toBe(204);
  });
});

describe("9 Versioning", () => {
  it("9.1 The version is part of the path: any other prefix is 404", async ({ expect }) => {
    for (const prefix of ["", "/v0", "/v2", "/v10", "/V1", "/1", "/latest"]) {
      const response = await store.service.call(store.key, `${prefix}/store/orders`);
      expect(response.status, prefix).toBe(404);
      await errorOf(response);
    }
  });

  it("9.1 The interface description version is 1.0.0", async ({ expect }) => {
    const description = await (await store.service.call(null, "/openapi.json")).json();
    expect(description).toMatchObject({ info: { version: "1.0.0" } });
  });

  it("9.2 Filtering and pagination are planned for v2: v1 has neither, and there is no v2 yet", async ({
    expect,
  }) => {
    expect(await (await store.service.call(store.key, `${LIST}?limit=1&complete=true`)).text()).toBe(
      await store.listText(),
    );
    expect((await store.service.call(store.key, "/v2/store/orders?limit=1")).status).toBe(404);
  });
});
