/** A client with types generated from the OpenAPI document (openapi-typescript, openapi-fetch) lists and cancels orders. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import createClient from "openapi-fetch";
import { beforeAll, describe, it } from "vitest";
import { generateTypes, TYPES_FILE } from "../contract/generate-types.ts";
import type { paths } from "../contract/openapi-types.d.ts";
import { openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
  await service.db.exec(
    "insert into orders (id, pet_id, quantity, ship_date, complete, status) values (1, 7, 2, '2026-11-24T09:00:00.000Z', 0, 'pending'), (2, 7, 1, null, null, 'shipped')",
  );
});

async function clientWithKey() {
  const { key } = await service.createKey();
  const baseUrl = new URL("/v1", service.url).href;
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
}

describe("the generated types", () => {
  it("are those of the current document (npm run contract:types generates them)", async ({ expect }) => {
    expect(readFileSync(TYPES_FILE, "utf8")).toBe(await generateTypes());
  });

  it("accept correct calls, and refuse others", ({ expect }) => {
    const root = join(import.meta.dirname, "..", "..");
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), "-p", join(root, "test/contract/tsconfig.json")],
      { encoding: "utf8" },
    );
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });
});

describe("the typed client", () => {
  it("lists the orders", async ({ expect }) => {
    const client = await clientWithKey();
    const { data, response } = await client.GET("/store/orders");
    expect(data).toContainEqual({
      id: 1,
      petId: 7,
      quantity: 2,
      shipDate: "2026-11-24T09:00:00.000Z",
      complete: false,
    });
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("999");
  });

  it("cancels an order, and gets the error's code if it cannot be cancelled", async ({ expect }) => {
    const client = await clientWithKey();
    const cancel = async (orderId: number) => {
      const { response, error } = await client.DELETE("/store/orders/{orderId}", {
        params: { path: { orderId } },
      });
      return [response.status, error?.code];
    };
    expect(await cancel(1)).toEqual([204, undefined]);
    expect(await cancel(1)).toEqual([404, "not_found"]);
    expect(await cancel(2)).toEqual([409, "order_already_shipped"]);
    const { data } = await client.GET("/store/orders");
    expect(data?.map(({ id }) => id)).toEqual([2]);
  });
});
