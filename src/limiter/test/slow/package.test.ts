/**
 * The package as others get it: packed, installed into an empty folder, with every example of its README
 * compiled and most of them run. The first one runs in two isolates; its process is killed with SIGKILL and
 * started again on the same storage.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { build } from "esbuild";
import { parseList } from "structured-headers";
import { afterAll, beforeAll, describe, it, vi } from "vitest";

const ROOT = join(import.meta.dirname, "../../../..");
const PACKAGE = join(ROOT, "src/limiter");
const MINUTE_MS = 60_000;

/** What an example of the README takes for granted, if it imports nothing itself. */
const PRELUDE = `import type { Context, Hono } from "hono";
import { type AddressOptions, type AdmitOptions, admit, type BanRule, block, clientAddress, type HeaderOptions, inspect,
  type Limit, type LimiterNamespace, perDay, perHour, perMinute, type Policy, RateLimiter, type RateLimiterOptions,
  type RateLimitOptions, rateLimit, type Report, reset, settle, unblock } from "hono-durable-limiter";
type Bindings = { RATE_LIMITER: DurableObjectNamespace<RateLimiter>; DB: D1Database };
type E = { Bindings: Bindings; Variables: { tokens?: number | Promise<number>; apiKey: string } };
type Row = { per_minute: number; secret_hash: string };
declare const app: Hono<E>;
declare const env: Bindings;
declare const ctx: ExecutionContext;
declare const work: () => Promise<number>;
declare const partsOf: (request: Request) => AsyncIterable<{ text: string; tokens: number }>;
declare const auth: { api: { verifyApiKey(of: { body: { key: string } }): Promise<{ key: { id: string } | null }> } };
declare const z: { string(): unknown };
declare const search: (query: string) => Promise<string>;
declare const server: {
  registerTool(name: string, of: { inputSchema: object }, tool: (
    input: { query: string }, extra: { authInfo?: { clientId: string } },
  ) => Promise<{ content: { type: "text"; text: string }[] }>): void;
};
declare const key: (c: Context<E>) => string;
declare const namespace: (c: Context<E>) => LimiterNamespace;
`;
/** The README's examples of TypeScript, in their order. */
const EXAMPLES = [
  "src/index",
  "plain",
  "settle",
  "stream",
  "settle-by-hand",
  "waiting",
  "watching",
  "from-code",
  "two-keys",
  "better-auth",
  "better-auth-keys",
  "mcp",
  "orders",
  "subclass",
  "vitest.config",
  "limit.test",
];
const OWN_FILES: Record<string, string> = {
  "package.json": JSON.stringify({ type: "module", private: true }),
  "env.d.ts": `declare namespace Cloudflare {
  interface GlobalProps { mainModule: typeof import("./src/index.ts") }
  interface Env { RATE_LIMITER: DurableObjectNamespace<import("hono-durable-limiter").RateLimiter> }
}`,
  "optional.ts": `${PRELUDE}declare const no: undefined;
rateLimit<E>({ namespace, key, limits: no, bans: no, cost: no, settle: no, skip: no, onRefused: no, timeoutMs: no });`,
  "recipes.ts": `import { Hono } from "hono";
import { consume } from "./better-auth.ts";
export { RateLimiter } from "hono-durable-limiter/object";
const app = new Hono();
app.get("/auth", async (c) => c.json(await consume("one", { window: 60, max: 2 })));
app.get("/auth-odd", async (c) => c.json(await consume("odd", { window: 7, max: 1 })));
export default app;`,
};
/** The example with a stream, in a Worker whose stream takes four seconds and costs 1,000. */
const streaming = (example: string) => `import { type Context, Hono } from "hono";
import { inspect, perMinute, type RateLimiter, rateLimit } from "hono-durable-limiter";
export { RateLimiter } from "hono-durable-limiter";
type E = { Bindings: { RATE_LIMITER: DurableObjectNamespace<RateLimiter> }; Variables: { tokens?: number | Promise<number> } };
const app = new Hono<E>();
const namespace = (c: Context<E>) => c.env.RATE_LIMITER;
const key = () => "one";
async function* partsOf(_request: Request) {
  for (let i = 0; i < 200; i++) {
    await scheduler.wait(20);
    yield { text: "word ", tokens: 5 };
  }
}
${example}
const limits = [perMinute(60), { name: "tokens", unit: "tokens", amount: 90_000, seconds: 60 }];
app.get("/used", async (c) => c.json((await inspect(namespace(c), { key: "one", limits }))?.quota.map(({ used }) => used)));
export default app;`;

const run = promisify(execFile);
let folder: string;
let packed: string;
let child: ChildProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hono-durable-limiter-"));
  const args = ["pack", "--json", "--ignore-scripts=false", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: PACKAGE });
  const [file]: { filename: string }[] = JSON.parse(stdout.slice(stdout.indexOf("[")));
  packed = join(folder, file?.filename ?? "");
  await mkdir(join(folder, "src"));
  for (const [name, text] of Object.entries(OWN_FILES)) await writeFile(join(folder, name), text);
  const local = ["hono", "structured-headers", "@cloudflare/workers-types"].map((name) =>
    join(ROOT, "node_modules", name),
  );
  await run("npm", ["install", "--offline", "--install-links", packed, ...local], { cwd: folder });
  for (const name of ["vitest", "@cloudflare/vitest-plugin"])
    await symlink(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  const readme = await readFile(join(folder, "node_modules/hono-durable-limiter/README.md"), "utf8");
  const [configuration = ""] = [...readme.matchAll(/```jsonc\n(.*?)```/gs)].map(([, text]) => text);
  await writeFile(join(folder, "wrangler.jsonc"), configuration);
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text = ""]) => text);
  if (examples.length !== EXAMPLES.length) throw new Error(`the README has ${examples.length} examples`);
  await writeFile(join(folder, "streaming.ts"), streaming(examples[EXAMPLES.indexOf("stream")] ?? ""));
  for (const [i, example] of examples.entries())
    await writeFile(
      join(folder, `${EXAMPLES[i]}.ts`),
      example.startsWith("import") ? example : PRELUDE + example,
    );
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
  const service = join(import.meta.dirname, "service.ts");
  child = spawn(process.execPath, [service, outfile, join(folder, "storage", name)], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("the child has no output");
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as string[];
  throw new Error("the child has ended");
}

/** The real wrangler, with the README's configuration. */
async function startWrangler(file: string): Promise<string> {
  await kill();
  const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  const ports = ["--ip", "127.0.0.1", "--port", "0", "--inspector-port", "0"];
  child = spawn(process.execPath, [wrangler, "dev", file, ...ports], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
  });
  if (child.stdout === null) throw new Error("the child has no output");
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("wrangler has ended");
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

/** Node's `fetch` goes on reading a body that was aborted, so the service would not see the hang-up. */
async function hangUpAfterFirstPart(url: string): Promise<void> {
  const [response] = (await once(request(url, { method: "POST" }).end(), "response")) as [IncomingMessage];
  await once(response, "data");
  response.destroy();
}

const untilMinuteHas = async (ms: number) => {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (leftMs < ms) await new Promise((resolve) => setTimeout(resolve, leftMs + 50));
};

describe("the packed package", () => {
  it("holds JavaScript, types, the README and the licence, and nothing else", async ({ expect }) => {
    const { stdout } = await run("npm", ["pack", "--json", "--dry-run", "--ignore-scripts"], {
      cwd: PACKAGE,
    });
    const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(stdout);
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["CHANGELOG.md", "LICENSE", "README.md", "dist/index.js", "dist/index.d.ts"]),
    );
    const allowed = /^((CHANGELOG|README)\.md|LICENSE|package\.json|dist\/.*\.(js|d\.ts))$/;
    expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
  });

  it("is all that npm publishes: neither the folder, nor a file that was packed without scripts", async ({
    expect,
  }) => {
    const unbuiltFolder = join(folder, "unbuilt");
    await mkdir(unbuiltFolder);
    const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", unbuiltFolder];
    const { stdout } = await run("npm", args, { cwd: PACKAGE });
    const unbuilt = join(unbuiltFolder, stdout.trim());
    // Nothing listens on the port: npm refuses before it connects.
    const registry = ["--registry", "http://127.0.0.1:1/", "--//127.0.0.1:1/:_authToken=none"];
    const options = [...registry, "--provenance=false", "--fetch-retries=0", "--loglevel=warn"];
    const publish = async (...what: string[]) => {
      const published = await run("npm", ["publish", ...what, ...options], { cwd: PACKAGE }).catch(
        (error: { stdout: string; stderr: string }) => error,
      );
      return published.stdout + published.stderr;
    };
    expect(await publish(unbuilt)).toContain("This package has been marked as private");
    for (const scripts of ["--ignore-scripts=true", "--ignore-scripts=false"])
      expect(await publish(scripts)).toContain("Skipping workspace hono-durable-limiter, marked as private");
    expect(await publish(packed)).toContain("ECONNREFUSED");
  });

  it("has types with which the README's examples are checked, by the strictest rules", async ({ expect }) => {
    const options = "--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noEmit".split(" ");
    const modules =
      "--allowImportingTsExtensions --target esnext --module esnext --moduleResolution bundler".split(" ");
    const known = ["--types", "@cloudflare/workers-types", "--lib", "esnext"];
    const tsc = (...files: string[]) =>
      run(join(ROOT, "node_modules/.bin/tsc"), [...options, ...modules, ...known, ...files], { cwd: folder });
    await tsc("src/index.ts", "plain.ts", "optional.ts");
    const all = [...EXAMPLES, "recipes", "streaming"].map((name) => `${name}.ts`);
    // The examples at exported options.
    const types = join(folder, "node_modules/hono-durable-limiter/dist");
    const declarations = (await readdir(types, { recursive: true })).filter((name) => name.endsWith(".d.ts"));
    const comments = await Promise.all(declarations.map((name) => readFile(join(types, name), "utf8")));
    const examples = comments.flatMap((text) => [...text.matchAll(/@example\n((?: \*(?!\/).*\n)+)/g)]);
    const blocks = examples.map(([, lines = ""]) => `{${lines.replaceAll(/^ \*/gm, "")}}`);
    expect(blocks.length).toBeGreaterThan(5);
    const others = `import { limitedFetch } from "hono-durable-limiter/fetch";\ndeclare const urls: string[];\n`;
    await writeFile(join(folder, "options.ts"), PRELUDE + others + blocks.join("\n"));
    await tsc("--skipLibCheck", "env.d.ts", "options.ts", ...all);
    const example = await readFile(join(folder, "src/index.ts"), "utf8");
    await writeFile(join(folder, "wrong.ts"), example.replace("perDay(1000)", 'perDay("1000")'));
    await expect(tsc("wrong.ts")).rejects.toMatchObject({
      stdout: expect.stringContaining("not assignable"),
    });
  });

  it("can be imported in Node, also by an app, and has a class there that throws", async ({ expect }) => {
    const script = `const { default: app, RateLimiter } = await import("./src/index.ts");
      const { admit } = await import("hono-durable-limiter/client");
      let thrown;
      try { new RateLimiter() } catch (error) { thrown = error.message }
      console.log(JSON.stringify([app.routes.length, typeof admit, thrown]));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual([
      2,
      "function",
      expect.stringContaining("runs on Cloudflare Workers"),
    ]);
  });

  it("has a client that waits in time, as the README shows", async ({ expect }) => {
    const script = `const times = [];
      globalThis.fetch = async () => {
        times.push(performance.now());
        return Response.json({}, { headers: { RateLimit: '"s";r=' + (1 - times.length % 2) + ";t=1" } });
      };
      const { ordersOf } = await import("./orders.ts");
      const orders = await ordersOf(["1", "2", "3", "4"]);
      console.log(JSON.stringify([orders, times.map((at) => Math.floor((at - times[0]) / 1000))]));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual([
      [{}, {}, {}, {}],
      [0, 1, 1, 2],
    ]);
  });

  it.for([
    ["object", ["cloudflare:workers"]],
    ["client", []],
    ["fetch", []],
  ] as const)("imports no Hono in /%s, and from outside %j", async ([entry, outside], { expect }) => {
    const { metafile } = await build({
      stdin: { contents: `export * from "hono-durable-limiter/${entry}";`, resolveDir: folder },
      bundle: true,
      format: "esm",
      external: ["cloudflare:workers"],
      write: false,
      metafile: true,
    });
    const inputs = Object.keys(metafile.inputs).filter((path) => path.includes("node_modules/hono/"));
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
    expect([inputs, imports.map(({ path }) => path)]).toEqual([[], outside]);
  });

  it("runs in its user's tests, as the README sets them up", async ({ expect }) => {
    const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
    const { stdout } = await run(process.execPath, [vitest, "run", "--testTimeout=60000"], { cwd: folder });
    expect(stdout).toMatch(/Tests.*1 passed/);
  });
});

describe("the README's other Workers", () => {
  it("limit without Hono", async ({ expect }) => {
    const urls = await start("plain");
    await untilMinuteHas(20_000);
    const responses = await askAtOnce(urls, 70);
    expect(admittedOf(responses)).toBe(60);
    for (const { status, headers } of responses) {
      expect(headers.get("RateLimit-Policy")).toBe('"minute";q=60;w=60');
      expect(headers.has("Retry-After")).toBe(status === 429);
    }
  });

  it("serve better-auth", async ({ expect }) => {
    const [url = ""] = await start("recipes");
    await untilMinuteHas(20_000);
    const ask = (path: string) => fetch(new URL(path, url));
    const auth = [];
    for (let i = 0; i < 3; i++) auth.push(await (await ask("/auth")).json());
    const admitted = { allowed: true, retryAfter: null };
    expect(auth).toEqual([admitted, admitted, { allowed: false, retryAfter: expect.any(Number) }]);
    expect(await (await ask("/auth-odd")).json()).toEqual(admitted);
  });
});

describe("the README's API for a language model, under wrangler dev", () => {
  it("is charged for the tokens that were made, also if the client hangs up", async ({ expect }) => {
    const url = await startWrangler("streaming.ts");
    await untilMinuteHas(40_000);
    const counts = async (): Promise<number[]> => (await fetch(new URL("/used", url))).json();
    const used = async () => (await counts())[1] ?? Number.NaN;
    const settled = async (before: number) => {
      // Until then the whole reserve of 4,000 is used.
      await vi.waitFor(async () => expect(await used()).toBeLessThan(before + 4_000), 20_000);
      return (await used()) - before;
    };
    const whole = await fetch(new URL("/chat", url), { method: "POST" });
    expect(whole.headers.get("RateLimit")).toMatch(/^"minute";r=59;t=\d+, "tokens";r=86000;t=\d+$/);
    expect(whole.headers.get("RateLimit-Policy")).toBe(
      '"minute";q=60;w=60, "tokens";q=90000;qu="tokens";w=60',
    );
    expect((await whole.text()).length).toBe(1_000);
    expect(await settled(0)).toBe(1_000);
    for (let i = 0; i < 2; i++) {
      const before = await used();
      await hangUpAfterFirstPart(`${url}/chat`);
      const charged = await settled(before);
      expect(charged).toBeGreaterThan(0);
      expect(charged).toBeLessThan(1_000);
    }
    expect((await counts())[0]).toBe(3);
  });
});

describe("the README's example in two isolates", () => {
  it("admits 60 of 600 requests at once, with true headers on each, and nothing more after a SIGKILL", async ({
    expect,
  }) => {
    let urls = await start("src/index");
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
    urls = await start("src/index");
    const [after] = await askAtOnce(urls, 1);
    // A slow start may end in the next minute.
    expect(dayLeft(after)).toBe(after?.status === 200 ? 939 : 940);
  });
});
