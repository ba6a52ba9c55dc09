/** `hono-durable-limiter/fetch` as clients run it: in Chromium, and in two versions of Node, over a real minute. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Browser, openBrowser } from "../support/browser.ts";
import { LIST, openService, type Service } from "../support/service.ts";

const run = promisify(execFile);
let service: Service;
let browser: Browser;
let bundle: string;

beforeAll(async () => {
  service = await openService();
  browser = await openBrowser();
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "../../src/limiter/fetch.ts")],
    bundle: true,
    format: "iife",
    globalName: "limiter",
    target: "es2023",
    write: false,
  });
  bundle = outputFiles.map(({ text }) => text).join("");
});

afterAll(() => browser.close());

/** Five requests of a key that has three a minute: the program's value is how each one sent was answered. */
async function programOf(): Promise<string> {
  const { key } = await service.createKey({ perMinute: 3 });
  const url = JSON.stringify(new URL(LIST, service.url).href);
  return `(async () => {
    ${bundle}
    const statuses = [];
    const send = async (...call) => {
      const response = await fetch(...call);
      statuses.push(response.status);
      return response;
    };
    const call = limiter.limitedFetch({ fetch: send });
    const headers = { Authorization: "Bearer ${key}" };
    await Promise.all([1, 2, 3, 4, 5].map(() => call(${url}, { headers })));
    return statuses;
  })()`;
}

describe("limitedFetch", () => {
  const [major] = process.versions.node.split(".");
  it.concurrent.for([
    [`Node ${major}`, process.execPath],
    ["the Node of the system", "node"],
  ] as const)("gets no 429 in %s", async ([, command], { expect }) => {
    const program = `${await programOf()}.then((statuses) => console.log(process.version, ...statuses))`;
    const { stdout } = await run(command, ["-e", program]);
    expect(stdout.trim()).toMatch(/^v\d+\.\d+\.\d+ 200 200 200 200 200$/);
  });

  it.concurrent("gets no 429 in a browser", async ({ expect }) => {
    const { page } = await browser.open(new URL("/docs/try", service.url).href, "desk");
    expect(await page.evaluate(await programOf())).toEqual([200, 200, 200, 200, 200]);
    await page.close();
  });
});
