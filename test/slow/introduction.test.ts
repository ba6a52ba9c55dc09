/** The programs of the document's introduction run as they stand. Some need packages: test/contract. */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { runProcess, temporaryFolder } from "../support/cli.ts";
import { contractWith } from "../support/contract.ts";
import { introductionOf, writeProgram } from "../support/introduction.ts";
import { LIST, openService, type Service } from "../support/service.ts";

/** What stands before a program that lists the orders, and what runs the program. */
const LISTS = [
  ["curl:", "sh"],
  ["JavaScript without packages", process.execPath],
  ["Python with", "python3"],
] as const;

const hasUrllib3 = spawnSync("python3", ["-c", "import urllib3"]).status === 0;

let service: Service;

beforeAll(async () => {
  service = await openService();
  await service.db
    .prepare(
      "insert into orders (id, pet_id, quantity, ship_date, complete, status) values (1, 7, 2, null, 0, 'pending'), (2, 7, 1, null, 0, 'pending')",
    )
    .run();
});

/** Answers the first request with 429, and notes when each request came. */
async function startBusyServer(retryAfter: string) {
  const arrivals: { request: string; atMs: number }[] = [];
  const server = createServer(({ method, url }, response) => {
    arrivals.push({ request: `${method} ${url}`, atMs: Date.now() });
    if (arrivals.length === 1) response.writeHead(429, { "Retry-After": retryAfter }).end("{}");
    else response.writeHead(200).end("[]");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // The address of a TCP server is never a string.
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, arrivals, close: () => server.close() };
}

describe("the introduction's program", () => {
  it.for(LISTS)("%s lists the orders, and changes nothing", async ([before, command], { expect, skip }) => {
    skip(command === "python3" && !hasUrllib3, "python3 has no urllib3");
    const { key } = await service.createKey();
    const program = writeProgram(await introductionOf(service), before, temporaryFolder());
    const { code, out } = await runProcess(command, [program], { KEY: key });
    expect(code).toBe(0);
    expect(out).toContain('"id":1,"petId":7,"quantity":2');
    expect(await service.db.prepare("select count(*) as n from orders").first("n")).toBe(2);
  });

  it.concurrent.for(LISTS)("%s waits as Retry-After says", async ([before, command], { expect, skip }) => {
    skip(command === "python3" && !hasUrllib3, "python3 has no urllib3");
    const server = await startBusyServer("2");
    const { description } = contractWith({ ownOrigin: server.origin }).info;
    const program = writeProgram(description, before, temporaryFolder());
    const { code } = await runProcess(command, [program], { KEY: "sok_any" });
    server.close();
    expect(code).toBe(0);
    const list = "GET /v1/store/orders";
    expect(server.arrivals.map(({ request }) => request)).toEqual([list, list]);
    const [first = 0, second = 0] = server.arrivals.map(({ atMs }) => atMs);
    expect(second - first).toBeGreaterThan(1_900);
  });

  it.for(LISTS)("%s fails at once after a used-up day", async ([before, command], { expect, skip }) => {
    skip(command === "python3" && !hasUrllib3, "python3 has no urllib3");
    const server = await startBusyServer("70000");
    const { description } = contractWith({ ownOrigin: server.origin }).info;
    const program = writeProgram(description, before, temporaryFolder());
    const { code } = await runProcess(command, [program], { KEY: "sok_any" });
    server.close();
    expect([code !== 0, server.arrivals.length]).toEqual([true, 1]);
  });

  it("that polls keeps a file fresh, and gets the list only after a change", async ({ expect }) => {
    const { key } = await service.createKey();
    const folder = temporaryFolder();
    const program = writeProgram(await introductionOf(service), "## Poll", folder);
    const poll = async () => {
      const { code } = await runProcess("sh", [program], { KEY: key }, { cwd: folder });
      expect(code).toBe(0);
      const { ino, mtimeMs } = statSync(join(folder, "orders.json"));
      return { list: readFileSync(join(folder, "orders.json"), "utf8"), file: [ino, mtimeMs] };
    };
    const first = await poll();
    expect(first.list).toBe(await (await service.call(key, LIST)).text());
    expect(await poll()).toEqual(first);
    await service.db.prepare("update orders set quantity = 9 where id = 1").run();
    expect((await poll()).list).toContain('"quantity":9');
  });

  it("that cancels needs the id of an order, and cancels no other", async ({ expect }) => {
    const { key } = await service.createKey();
    const text = await introductionOf(service);
    const run = (description: string) =>
      runProcess("sh", [writeProgram(description, "A cancel cannot", temporaryFolder())], { KEY: key });
    expect((await run(text)).out).toContain("HTTP/1.1 404 Not Found");
    expect((await run(text.replace("ORDER=…", "ORDER=2"))).out).toContain("HTTP/1.1 204 No Content");
    const { results } = await service.db.prepare("select id from orders").all();
    expect(results).toEqual([{ id: 1 }]);
  });
});
