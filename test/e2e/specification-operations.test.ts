/** The specification over HTTP, a test for each sentence and each row: sections 4-7. */
import { beforeAll, describe, it } from "vitest";
import { LIST } from "../support/service.ts";
import { errorOf, type Order, openStore, type Store, sendRaw } from "./specification-support.ts";

let store: Store;

beforeAll(async () => {
  store = await openStore();
});

describe("4 Endpoints", () => {
  it("4 All paths are relative to {base_url}", async ({ expect }) => {
    for (const path of ["/store/orders", "/v1/v1/store/orders", "/orders"]) {
      expect((await store.service.call(store.key, path)).status, path).toBe(404);
    }
  });

  it("4 All responses with a body are application/json", async ({ expect }) => {
    await store.insertOrder("4001", { status: "shipped" });
    const responses = [
      await store.service.call(store.key, LIST),
      await store.service.call(null, LIST),
      await store.cancel("4002"),
      await store.cancel("4001"),
      await store.service.call(store.key, LIST, { method: "POST" }),
      await store.service.call(store.key, "/v1/nothing"),
      await store.service.call(null, "/nothing"),
    ];
    for (const response of responses) {
      expect(response.headers.get("Content-Type"), String(response.status)).toBe("application/json");
      await expect(response.json()).resolves.toBeInstanceOf(Object);
    }
  });

  it("4 Every operation requires the bearer credential of section 5", async ({ expect }) => {
    await store.insertOrder("4003");
    expect((await store.service.call(null, LIST)).status).toBe(401);
    expect((await store.cancel("4003", null)).status).toBe(401);
    expect(await store.listed(4003)).toEqual({ id: 4003 });
  });
});

describe("4.1 List orders", () => {
  it("4.1 GET /store/orders answers 200 with a JSON array of Order objects", async ({ expect }) => {
    const response = await store.service.call(store.key, LIST);
    expect(response.status).toBe(200);
    const orders = (await response.json()) as unknown[];
    expect(Array.isArray(orders)).toBe(true);
    for (const order of orders) expect(order).toMatchObject({ id: expect.any(Number) });
  });

  it("4.1 Query parameters: none; filtering and pagination are not supported and change nothing", async ({
    expect,
  }) => {
    const all = await store.listText();
    for (const query of ["?status=pending", "?limit=1", "?page=2&per_page=1", "?petId=7", "?complete=true"]) {
      expect(await (await store.service.call(store.key, LIST + query)).text(), query).toBe(all);
    }
  });

  it("4.1 Path parameters: none, so a path below the list is not the list", async ({ expect }) => {
    expect((await store.service.call(store.key, `${LIST}/1`)).status).toBe(405);
    expect((await store.service.call(store.key, `${LIST}/`)).status).toBe(404);
  });

  it("4.1 Request body: none; one that is sent is ignored", async ({ expect }) => {
    // fetch refuses to send a body with GET.
    const answer = await sendRaw(
      store.service.url,
      `GET ${LIST} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${store.key}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('"id":');
  });

  it("4.1 401 with an Error object: credential missing or invalid", async ({ expect }) => {
    for (const sent of [null, "invalid"]) {
      const response = await store.service.call(sent, LIST);
      expect(response.status).toBe(401);
      expect((await errorOf(response)).code).toBe("unauthorized");
    }
  });

  it("4.1 The whole list is returned in one response, with no paging: 25,000 orders and every one", async ({
    expect,
  }) => {
    const before = ((await (await store.service.call(store.key, LIST)).json()) as Order[]).length;
    await store.service.db
      .prepare(
        `with recursive n(i) as (select 100001 union all select i + 1 from n where i < 125000)
         insert into orders (id, pet_id, complete) select i, i, i % 2 from n`,
      )
      .run();
    const response = await store.service.call(store.key, LIST);
    expect(response.headers.has("Link")).toBe(false);
    const orders = (await response.json()) as Order[];
    expect(orders).toHaveLength(before + 25_000);
    expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length);
    await store.service.db.prepare("delete from orders where id between 100001 and 125000").run();
  });
});

describe("4.2 Cancel an order", () => {
  it("4.2 Cancel an order: 204 with no body when the order was pending and is cancelled", async ({
    expect,
  }) => {
    await store.insertOrder("4201");
    const response = await store.cancel("4201");
    expect(response.status).toBe(204);
    expect(response.headers.has("Content-Type")).toBe(false);
    expect(await response.text()).toBe("");
  });

  it("4.2 Cancel an order: Request body none; one that is sent is ignored", async ({ expect }) => {
    await store.insertOrder("4202");
    await store.insertOrder("4203");
    expect((await store.cancel("4202", store.key, { body: '{"orderId":4203}' })).status).toBe(204);
    expect(await store.listed(4203)).toEqual({ id: 4203 });
  });

  it("4.2 orderId is required: DELETE of the list itself is no operation", async ({ expect }) => {
    expect((await store.service.call(store.key, LIST, { method: "DELETE" })).status).toBe(405);
    expect((await store.service.call(store.key, `${LIST}/`, { method: "DELETE" })).status).toBe(404);
  });

  it("4.2 orderId: an integer of int64, exact in every digit", async ({ expect }) => {
    await store.insertOrder("9007199254740995");
    await store.insertOrder("9007199254740996");
    expect((await store.cancel("9007199254740995")).status).toBe(204);
    expect(await store.listText()).toContain('"id":9007199254740996');
    await store.service.db.prepare("insert or ignore into orders (id) values (9223372036854775807)").run();
    expect((await store.cancel("9223372036854775807")).status).toBe(204);
  });

  it("4.2 orderId that is no int64 names no order: 404 with an Error object", async ({ expect }) => {
    for (const id of [
      "abc",
      "1.5",
      "+1",
      "%201",
      "1e3",
      "-0",
      "007",
      "99999999999999999999",
      "%00",
      "%ZZ",
      "1%2F2",
    ]) {
      const response = await store.cancel(id);
      expect(response.status, id).toBe(404);
      expect((await errorOf(response)).code, id).toBe("not_found");
    }
  });

  it("4.2 Cancel an order: 401 with an Error object when the credential is missing or invalid", async ({
    expect,
  }) => {
    await store.insertOrder("4210");
    for (const sent of [null, "invalid"]) {
      const response = await store.cancel("4210", sent);
      expect(response.status).toBe(401);
      expect((await errorOf(response)).code).toBe("unauthorized");
    }
    expect(await store.listed(4210)).toEqual({ id: 4210 });
  });

  it("4.2 Cancel an order: 404 with an Error object when the order cannot be found", async ({ expect }) => {
    const response = await store.cancel("4211");
    expect(response.status).toBe(404);
    expect((await errorOf(response)).code).toBe("not_found");
  });

  it("4.2 Cancel an order: 409 when the order has already shipped, with an Error object", async ({
    expect,
  }) => {
    await store.insertOrder("4212", { status: "shipped" });
    const response = await store.cancel("4212");
    expect(response.status).toBe(409);
    expect((await errorOf(response)).code).toBe("order_already_shipped");
  });

  it("4.2 Other endpoints are not shown: neither placing an order nor reading a single one exists", async ({
    expect,
  }) => {
    await store.insertOrder("4213");
    expect((await store.service.call(store.key, LIST, { method: "POST", body: '{"id":4214}' })).status).toBe(
      405,
    );
    expect((await store.service.call(store.key, `${LIST}/4213`)).status).toBe(405);
    expect(await store.listed(4214)).toBeUndefined();
  });
});

describe("5 Authentication", () => {
  it("5.1 The scheme is HTTP bearer: any other is refused, and the challenge names it", async ({
    expect,
  }) => {
    for (const scheme of ["Basic", "Digest", "Token", "ApiKey"]) {
      const headers = { Authorization: `${scheme} ${store.key}` };
      const response = await store.service.call(null, LIST, { headers });
      expect(response.status, scheme).toBe(401);
      expect(response.headers.get("WWW-Authenticate"), scheme).toMatch(/^Bearer realm="[^"]+"/);
    }
  });

  it("5.2 The client sends Authorization: Bearer <API_KEY>, and nothing else is accepted", async ({
    expect,
  }) => {
    const headers = { Authorization: `Bearer ${store.key}` };
    expect((await store.service.call(null, LIST, { headers })).status).toBe(200);
    expect((await store.service.call(null, LIST, { headers: { "X-API-Key": store.key } })).status).toBe(401);
    expect(
      (await store.service.call(null, `${LIST}?api_key=${store.key}&access_token=${store.key}`)).status,
    ).toBe(401);
  });

  it("5.3 A missing or invalid key gives 401 with the same Error object for each cause", async ({
    expect,
  }) => {
    const past = Math.floor(Date.now() / 1000) - 1;
    const [revoked, disabled, expired] = await Promise.all([
      store.service.createKey({ status: "revoked" }),
      store.service.createKey({ status: "disabled" }),
      store.service.createKey({ expiresAt: past }),
    ]);
    const mistyped = store.key.slice(0, -1) + (store.key.endsWith("0") ? "1" : "0");
    const bodies = new Set<string>();
    for (const sent of [null, "invalid", mistyped, revoked.key, disabled.key, expired.key]) {
      const response = await store.service.call(sent, LIST);
      expect(response.status).toBe(401);
      bodies.add(JSON.stringify(await errorOf(response)));
    }
    expect(bodies.size).toBe(1);
  });

  it("5.4 Permissions or scopes are not shown: every key may do both operations", async ({ expect }) => {
    for (const plan of ["free", "pro", "business"]) {
      const { key: other } = await store.service.createKey({ plan });
      await store.insertOrder("5401");
      expect((await store.service.call(other, LIST)).status, plan).toBe(200);
      expect((await store.cancel("5401", other)).status, plan).toBe(204);
    }
  });
});

describe("6 Events", () => {
  it("6 Events, webhooks and notifications are not shown: cancelling sends nothing to anyone else", async ({
    expect,
  }) => {
    for (const path of ["/v1/events", "/v1/webhooks", "/v1/notifications"]) {
      expect((await store.service.call(store.key, path)).status, path).toBe(404);
    }
  });
});

describe("7 Errors", () => {
  it("7 401: missing or invalid API key, on all operations", async ({ expect }) => {
    for (const response of [await store.service.call(null, LIST), await store.cancel("1", null)]) {
      expect(await errorOf(response)).toMatchObject({ status: 401 });
    }
  });

  it("7 404: requested resource cannot be found, on cancelOrder", async ({ expect }) => {
    expect(await errorOf(await store.cancel("7001"))).toMatchObject({ code: "not_found", status: 404 });
  });

  it("7 409: order has already shipped and cannot be cancelled, on cancelOrder", async ({ expect }) => {
    await store.insertOrder("7002", { status: "shipped" });
    expect(await errorOf(await store.cancel("7002"))).toMatchObject({
      code: "order_already_shipped",
      status: 409,
    });
  });

  it("7 429: rate limit exceeded, on all operations", async ({ expect }) => {
    const { key: used } = await store.service.createKey({ perDay: 1 });
    expect((await store.service.call(used, LIST)).status).toBe(200);
    for (const response of [await store.service.call(used, LIST), await store.cancel("1", used)]) {
      expect(await errorOf(response)).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
    }
  });

  it("7.1 The 401 and 404 responses carry an Error object, for every path and method", async ({ expect }) => {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      expect((await errorOf(await store.service.call(null, "/v1/nothing", { method }))).status).toBe(401);
      expect((await errorOf(await store.service.call(store.key, "/v1/nothing", { method }))).status).toBe(
        404,
      );
    }
  });

  it("7.2 The body of the 409 response is not shown: it is the Error object as well", async ({ expect }) => {
    await store.insertOrder("7003", { status: "processing" });
    expect(await errorOf(await store.cancel("7003"))).toMatchObject({
      code: "order_not_cancellable",
      status: 409,
    });
  });

  it("7.3 The set of codes is not shown: each is a lower-case name without internal details", async ({
    expect,
  }) => {
    await store.insertOrder("7004", { status: "delivered" });
    const responses = [
      await store.service.call(null, LIST),
      await store.cancel("7005"),
      await store.cancel("7004"),
    ];
    for (const response of responses) expect((await errorOf(response)).code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });
});
