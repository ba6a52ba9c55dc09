/** The examples of src/pages/docs/examples, against the running service. */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, it } from "vitest";
import { ordersClient } from "../../src/pages/docs/examples/client.ts";
import { openService, type Service, untilMinuteHas } from "../support/service.ts";

const SCRIPT = new URL("../../src/pages/docs/examples/orders.sh", import.meta.url).pathname;

let service: Service;
let baseUrl: string;

beforeAll(async () => {
  service = await openService();
  baseUrl = new URL("/v1", service.url).href;
  await service.db.exec(
    "insert into orders (id, pet_id, quantity, status) values (1, 7, 2, 'pending'), (2, 7, 1, 'shipped'), (3, 7, 1, 'pending')",
  );
});

function runScript(
  key: string,
  options: { orderId?: string; baseUrl?: string } = {},
): Promise<{ code: number | null; output: string }> {
  const args = options.orderId === undefined ? [] : [options.orderId];
  const env = { ...process.env, KEY: key, BASE_URL: options.baseUrl ?? baseUrl };
  return new Promise((resolve, reject) => {
    const child = spawn("sh", [SCRIPT, ...args], { env });
    let output = "";
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
    });
    child.stderr.on("data", (data: Buffer) => {
      output += data.toString();
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

describe("the curl script", () => {
  it("lists the orders, shows the limit, and cancels the order that is named", async ({ expect }) => {
    const { key } = await service.createKey();
    const { code, output } = await runScript(key, { orderId: "1" });
    expect(code).toBe(0);
    expect(output).toContain('{"id":1,"petId":7,"quantity":2}');
    expect(output).toMatch(/^999 of 1000 requests remain$/m);
    expect(output).toContain("Order 1 is cancelled.");
  });

  it("prints only the last answer after a retry", async ({ expect }) => {
    let requests = 0;
    const server = createServer((_, response) => {
      const isFirst = requests++ === 0;
      response.writeHead(isFirst ? 429 : 200, {
        "Retry-After": "1",
        "X-RateLimit-Limit": "60",
        "X-RateLimit-Remaining": isFirst ? "0" : "59",
      });
      response.end(isFirst ? '{"code":"rate_limit_exceeded"}' : "[]");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    try {
      const { code, output } = await runScript("sok_test", { baseUrl: `http://127.0.0.1:${port}` });
      expect({ code, requests }).toEqual({ code: 0, requests: 2 });
      // curl names the first status on standard error.
      expect(output.replace(/^curl: .*\n/, "")).toBe("[]\n59 of 60 requests remain\n");
    } finally {
      server.close();
    }
  });

  it("fails with the error's body if the order has shipped", async ({ expect }) => {
    const { key } = await service.createKey();
    const { code, output } = await runScript(key, { orderId: "2" });
    expect(code).not.toBe(0);
    expect(output).toContain('"code":"order_already_shipped"');
    expect(output).not.toContain("is cancelled");
  });
});

describe("the TypeScript client", () => {
  it("lists and cancels orders, and throws an error of the service without a retry", async ({ expect }) => {
    const { key } = await service.createKey();
    const waits: number[] = [];
    const client = ordersClient(baseUrl, key, async (ms) => void waits.push(ms));
    expect((await client.list()).map(({ id }) => id)).toContain(3);
    await client.cancel(3);
    expect((await client.list()).map(({ id }) => id)).not.toContain(3);
    await expect(client.cancel(2)).rejects.toThrow("order_already_shipped");
    await expect(client.cancel(9223372036854775807n)).rejects.toThrow("not_found");
    expect(waits).toEqual([]);
  });

  it("waits until the end of the minute when the limit is used up, and is then admitted", async ({
    expect,
  }) => {
    const { id, key } = await service.createKey({ perMinute: 1 });
    const waits: number[] = [];
    await untilMinuteHas(5);
    const secondsLeft = () => Math.ceil((60_000 - (Date.now() % 60_000)) / 1000);
    let leftAfter = 0;
    const client = ordersClient(baseUrl, key, async (ms) => {
      waits.push(ms);
      leftAfter = secondsLeft();
      // Instead of waiting for the end of the minute.
      await raiseLimit(id);
    });
    await client.list();
    const leftBefore = secondsLeft();
    expect(await client.list()).toBeInstanceOf(Array);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeLessThanOrEqual(leftBefore * 1000);
    expect(waits[0]).toBeGreaterThanOrEqual(leftAfter * 1000);
  });

  it("does not wait until the end of the day, but throws", async ({ expect }) => {
    const { key } = await service.createKey({ perDay: 1 });
    const client = ordersClient(baseUrl, key, () => Promise.reject(new Error("it waited")));
    await client.list();
    await expect(client.list()).rejects.toThrow("rate_limit_exceeded");
  });

  it("backs off exponentially, with jitter, if a response has no Retry-After, and stops after the last try", async ({
    expect,
  }) => {
    const failing = createServer((_request, response) => response.writeHead(500).end("broken"));
    await new Promise<void>((done) => failing.listen(0, "127.0.0.1", done));
    try {
      // A server that listens on a port has an address of this type.
      const { port } = failing.address() as AddressInfo;
      const waits: number[] = [];
      const client = ordersClient(`http://127.0.0.1:${port}`, "sok_any", async (ms) => void waits.push(ms));
      for (let i = 0; i < 20; i++) await expect(client.list()).rejects.toThrow("broken");
      const ofTry = (tries: number) => waits.filter((_wait, i) => i % 5 === tries - 1);
      expect(waits).toHaveLength(100);
      for (const tries of [1, 2, 3, 4, 5]) {
        expect(Math.max(...ofTry(tries))).toBeLessThanOrEqual(500 * 2 ** tries);
        // Of 20 draws, all are in the lower half once in a million times.
        expect(Math.max(...ofTry(tries))).toBeGreaterThan(250 * 2 ** tries);
        expect(new Set(ofTry(tries)).size).toBe(20);
      }
    } finally {
      failing.close();
    }
  });
});

async function raiseLimit(keyId: string): Promise<void> {
  const { status } = await service.admin("PATCH", `/keys/${keyId}`, { requestsPerMinute: 100 });
  if (status !== 200) throw new Error(`the change was answered with ${status}`);
}
