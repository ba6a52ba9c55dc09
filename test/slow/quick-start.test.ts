/** The programs of the document's quick start run as they stand: they list, cancel, and wait as Retry-After says. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { introduction } from "../../src/openapi/introduction.ts";
import { type Finished, runProcess, temporaryFolder } from "../support/cli.ts";
import { openService, type Service } from "../support/service.ts";

/** By the language of a code block: the file of the program, and what runs it. */
const RUNNERS = {
  sh: { file: "orders.sh", command: "sh" },
  js: { file: "orders.mjs", command: process.execPath },
  python: { file: "orders.py", command: "python3" },
} as const;
type Language = keyof typeof RUNNERS;

const LANGUAGES: readonly Language[] = ["sh", "js", "python"];

let service: Service;

beforeAll(async () => {
  service = await openService();
});

function runProgram(language: Language, description: string, key: string): Promise<Finished> {
  const { file, command } = RUNNERS[language];
  const program = description.split(`\`\`\`${language}\n`)[1]?.split("```")[0];
  if (program === undefined) throw new Error(`The quick start has no program in ${language}.`);
  const path = join(temporaryFolder(), file);
  writeFileSync(path, program);
  return runProcess(command, [path], { KEY: key });
}

/** Answers the first try of each request with 429 or 503, and notes when each request came. */
async function startBusyServer() {
  const arrivals: { request: string; atMs: number }[] = [];
  const server = createServer(({ method, url }, response) => {
    const request = `${method} ${url}`;
    const isFirst = !arrivals.some((each) => each.request === request);
    arrivals.push({ request, atMs: Date.now() });
    const [refused, done] = method === "GET" ? [429, 200] : [503, 204];
    if (isFirst) response.writeHead(refused, { "Retry-After": "2" }).end("{}");
    else response.writeHead(done).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // The address of a TCP server is never a string.
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, arrivals, close: () => server.close() };
}

describe("the quick start", () => {
  it.for(LANGUAGES)("in %s lists the orders, and cancels one", async (language, { expect }) => {
    await service.db
      .prepare(
        "insert or replace into orders (id, pet_id, quantity, ship_date, complete, status) values (1, 7, 2, null, 0, 'pending')",
      )
      .run();
    const { key } = await service.createKey();
    const response = await fetch(new URL("/openapi.json", service.url));
    // Without a description, runProgram throws.
    const { info } = (await response.json()) as { info: { description: string } };
    const { code, out } = await runProgram(language, info.description, key);
    expect(code).toBe(0);
    expect(out).toContain('"id":1,"petId":7,"quantity":2');
    expect(out).toContain("204");
    expect(await service.db.prepare("select count(*) as n from orders").first("n")).toBe(0);
  });

  it.concurrent.for(LANGUAGES)("in %s waits as Retry-After says", async (language, { expect }) => {
    const server = await startBusyServer();
    const { code } = await runProgram(language, introduction(`${server.origin}/v1`), "sok_any");
    server.close();
    expect(code).toBe(0);
    const [list, cancel] = ["GET /v1/store/orders", "DELETE /v1/store/orders/1"];
    const requests = server.arrivals.map(({ request }) => request);
    expect(requests).toEqual([list, list, cancel, cancel]);
    const [first = 0, second = 0, third = 0, fourth = 0] = server.arrivals.map(({ atMs }) => atMs);
    for (const waitedMs of [second - first, fourth - third]) expect(waitedMs).toBeGreaterThan(1_900);
  });
});
