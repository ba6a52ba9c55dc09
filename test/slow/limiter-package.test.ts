/**
 * The package as others get it: packed, installed into an empty folder, and the README's example in two isolates. The process is killed with
 * SIGKILL and started again on the same storage.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { build } from "esbuild";
import { parseList } from "structured-headers";
import { afterAll, beforeAll, describe, it } from "vitest";
import { DEEP } from "../support/deep.ts";

const ROOT = join(import.meta.dirname, "../..");
const PACKAGE = join(ROOT, "src/limiter");
const MINUTE_MS = 60_000;

const run = promisify(execFile);
let folder: string;
let child: ChildProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hono-durable-limiter-"));
  const args = ["pack", "--json", "--ignore-scripts=false", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: PACKAGE });
  const [packed]: { filename: string; files: { path: string }[] }[] = JSON.parse(
    stdout.slice(stdout.indexOf("[")),
  );
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  const local = ["hono", "@cloudflare/workers-types"].map((name) => join(ROOT, "node_modules", name));
  await run(
    "npm",
    ["install", "--offline", "--install-links", join(folder, packed?.filename ?? ""), ...local],
    { cwd: folder },
  );
  const readme = await readFile(join(folder, "node_modules/hono-durable-limiter/README.md"), "utf8");
  const [, example = ""] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  await writeFile(join(folder, "index.ts"), example);
  // The day's limit is one that the test reaches.
  await writeFile(join(folder, "small-day.ts"), example.replace("perDay(1000)", "perDay(70)"));
}, 150_000);

afterAll(async () => {
  await kill();
  await rm(folder, { recursive: true, force: true });
});

async function start(name: string): Promise<string[]> {
  await kill();
  const outfile = join(folder, "dist", `${name}.js`);
  await build({
    entryPoints: [join(folder, `${name}.ts`)],
    outfile,
    bundle: true,
    format: "esm",
    external: ["cloudflare:workers"],
    logLevel: "error",
  });
  const service = join(import.meta.dirname, "limiter-package-service.ts");
  child = spawn(process.execPath, [service, outfile, join(folder, "storage", name)], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("the child has no output");
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as string[];
  throw new Error("the child has ended");
}

/** The whole process group, workerd included. */
async function kill(): Promise<void> {
  const killed = child;
  child = undefined;
  if (killed?.pid === undefined || killed.exitCode !== null) return;
  const exited = new Promise((resolve) => killed.once("exit", resolve));
  process.kill(-killed.pid, "SIGKILL");
  await exited;
}

/** So many requests at once, in turn to each isolate. */
function askAtOnce(urls: readonly string[], count: number, address = "203.0.113.7"): Promise<Response[]> {
  const headers = { "CF-Connecting-IP": address };
  return Promise.all(
    Array.from({ length: count }, (_, i) => fetch(urls[i % urls.length] ?? "", { headers })),
  );
}

const admittedOf = (responses: readonly Response[]) =>
  responses.filter(({ status }) => status === 200).length;

const dayLeft = (response: Response | undefined) =>
  Number(/"day";r=(\d+)/.exec(response?.headers.get("RateLimit") ?? "")?.[1]);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const untilNextMinute = () => pause(MINUTE_MS - (Date.now() % MINUTE_MS) + 50);
const untilMinuteHas = async (ms: number) => {
  if (MINUTE_MS - (Date.now() % MINUTE_MS) < ms) await untilNextMinute();
};

describe("the packed package", () => {
  it("holds JavaScript, types, the README and the licence, and nothing else", async ({ expect }) => {
    const { stdout } = await run("npm", ["pack", "--json", "--dry-run", "--ignore-scripts"], {
      cwd: PACKAGE,
    });
    const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(stdout);
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts"]),
    );
    expect(
      paths.filter((path) => !/^(LICENSE|README\.md|package\.json|dist\/.*\.(js|d\.ts))$/.test(path)),
    ).toEqual([]);
  });

  it("has types with which the README's example is checked", async ({ expect }) => {
    const options = [
      "--strict",
      "--noEmit",
      "--target",
      "esnext",
      "--module",
      "esnext",
      "--moduleResolution",
      "bundler",
    ];
    const types = ["--types", "@cloudflare/workers-types", "--lib", "esnext"];
    const wrong = join(folder, "wrong.ts");
    await writeFile(
      wrong,
      (await readFile(join(folder, "index.ts"), "utf8")).replace("perDay(1000)", 'perDay("1000")'),
    );
    const tsc = (file: string) =>
      run(join(ROOT, "node_modules/.bin/tsc"), [...options, ...types, file], { cwd: folder });
    await tsc("index.ts");
    await expect(tsc("wrong.ts")).rejects.toMatchObject({
      stdout: expect.stringContaining("not assignable"),
    });
  });
});

describe("the README's example in two isolates", () => {
  it("admits 60 of 600 requests at once, with true headers on each, and nothing more after a SIGKILL", async ({
    expect,
  }) => {
    let urls = await start("index");
    await untilMinuteHas(20_000);
    const minuteEnd = Math.ceil(Date.now() / MINUTE_MS) * 60;
    const responses = await askAtOnce(urls, 600);
    expect(admittedOf(responses)).toBe(60);
    const remaining: number[] = [];
    for (const { status, headers } of responses) {
      expect(headers.get("X-RateLimit-Limit")).toBe("60");
      expect(headers.get("X-RateLimit-Reset")).toBe(String(minuteEnd));
      expect(headers.get("RateLimit-Policy")).toBe('"minute";q=60;w=60, "day";q=1000;w=86400');
      expect(parseList(headers.get("RateLimit") ?? "")).toHaveLength(2);
      expect(headers.has("Retry-After")).toBe(status === 429);
      if (status === 200) remaining.push(Number(headers.get("X-RateLimit-Remaining")));
    }
    expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect(admittedOf(await askAtOnce(urls, 1, "203.0.113.8"))).toBe(1);
    urls = await start("index");
    const [after] = await askAtOnce(urls, 1);
    // A slow start may end in the next minute.
    expect(dayLeft(after)).toBe(after?.status === 200 ? 939 : 940);
  });

  // It waits for a new minute.
  it.runIf(DEEP)(
    "counts no request twice in the second window, through a SIGKILL in the middle of a burst and a new minute",
    async ({ expect }) => {
      let urls = await start("small-day");
      const left: number[] = [];
      const ask = async (count: number) => {
        const admitted = (await askAtOnce(urls, count)).filter(({ status }) => status === 200);
        left.push(...admitted.map(dayLeft));
      };
      const burst = Array.from({ length: 60 }, async () => {
        await ask(1).catch(() => undefined);
        if (left.length === 20) await kill();
      });
      await Promise.all(burst);
      expect(left.length).toBeGreaterThanOrEqual(20);
      urls = await start("small-day");
      await ask(200);
      await untilNextMinute();
      await ask(200);
      expect(new Set(left).size).toBe(left.length);
      // Requests in flight at the SIGKILL may have been counted, although they got no response.
      expect(left.length).toBeGreaterThanOrEqual(20 + 70 - 60);
      const [last] = await askAtOnce(urls, 1);
      expect([last?.status, last?.headers.get("X-RateLimit-Limit")]).toEqual([429, "70"]);
    },
    180_000,
  );
});
