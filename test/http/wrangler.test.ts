/** Smoke: wrangler's own build of the service, with its pages, behind the proxies of `wrangler dev`. The other tests go without. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";
import { LOCAL_ENV } from "../../src/tools/wrangler.ts";
import { publishedConfigurationFile } from "../support/configuration.ts";
import { ADMIN_TOKEN } from "../support/workerd.ts";

let harness: TestHarness;
let url: URL;

beforeAll(async () => {
  Object.assign(process.env, LOCAL_ENV);
  const worker = { configPath: publishedConfigurationFile(), env: "", secrets: { ADMIN_TOKEN } };
  harness = createTestHarness({ workers: [worker] });
  ({ url } = await harness.listen());
  await harness.getWorker().applyD1Migrations("DB");
});
afterAll(() => harness.close());

function call(path: string, token: string, init: RequestInit = {}): Promise<Response> {
  return fetch(new URL(path, url), { ...init, headers: { Authorization: `Bearer ${token}` } });
}

describe("the build of wrangler", () => {
  it("issues a key, lists the orders with it and counts the request", async ({ expect }) => {
    const body = JSON.stringify({ name: "a key", plan: "free" });
    const { key } = (await (await call("/admin/keys", ADMIN_TOKEN, { method: "POST", body })).json()) as {
      key: string;
    };
    const response = await call("/v1/store/orders", key);
    expect([response.status, await response.json()]).toEqual([200, []]);
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("59");
  });

  it.for(["/docs", "/console/console.css"])(
    "serves the file %s without the Worker",
    async (path, { expect }) => {
      const { status, headers } = await call(path, "none");
      expect([status, headers.get("X-Request-Id")]).toEqual([200, null]);
    },
  );
});
