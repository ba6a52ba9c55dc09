/**
 * The process group of `wrangler dev`, which includes workerd, is killed with SIGKILL in the middle of a burst and
 * started again on the same storage. The limit is the daily one, so that a restart stays within its window.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type MintedKey, mintKey, SET_MAC_KEY } from "../support/mint.ts";
import { NO_SUCH_PATH } from "../support/service.ts";
import { freePort } from "../support/start.ts";
import { runWrangler, type Wrangler } from "../support/wrangler.ts";

const BURSTING = { perMinute: 1_000, perDay: 400 };
/** What is reserved at most: a tenth of the minute. */
const BLOCK = 100;
const BANNED = { perMinute: 1, perDay: 1_000 };
const IN_FLIGHT = 20;

const [bursting, banned] = [await mintKey(), await mintKey()];
let folder: string;
let url: string;
let running: Wrangler | undefined;

beforeAll(async () => {
  const untilMidnightMs = 86_400_000 - (Date.now() % 86_400_000);
  if (untilMidnightMs < 60_000) await pause(untilMidnightMs);
  folder = await mkdtemp(join(tmpdir(), "store-orders-"));
  const seed = join(folder, "seed.sql");
  await writeFile(
    seed,
    [await schema(), `${SET_MAC_KEY};`, insert(BURSTING, bursting), insert(BANNED, banned)].join("\n"),
  );
  await wrangler("d1", "execute", "DB", "--env=", "--local", "--persist-to", folder, "--file", seed, "--yes");
}, 150_000);

afterAll(async () => {
  running?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** All migrations as one SQL file, which saves one start of wrangler. */
async function schema(): Promise<string> {
  const migrations = join(import.meta.dirname, "../../migrations");
  const names = (await readdir(migrations)).filter((name) => name.endsWith(".sql")).sort();
  return (await Promise.all(names.map((name) => readFile(join(migrations, name), "utf8")))).join("\n");
}

function insert({ perMinute, perDay }: typeof BURSTING, { id, hash, hint }: MintedKey): string {
  return `insert into api_keys (id, name, plan, requests_per_minute, requests_per_day, created_at)
    values ('${id}', 'test', 'business', ${perMinute}, ${perDay}, 0);
    insert into key_secrets (hash, key_id, hint, created_at) values ('${hash}', '${id}', '${hint}', 0);`;
}

async function wrangler(...args: string[]): Promise<void> {
  const run = runWrangler(args);
  if ((await run.exited) !== 0) throw new Error(run.output());
}

async function start(): Promise<void> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  running = runWrangler([
    "dev",
    ...["--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"],
    ...["--env=", "--persist-to", folder, "--show-interactive-dev-session=false"],
  ]);
  for (let tries = 0; tries < 400; tries++) {
    const response = await fetch(url).catch(() => undefined);
    if (response) return;
    await pause(100);
  }
  throw new Error(running.output());
}

async function kill(): Promise<void> {
  running?.stop();
  await running?.exited;
  running = undefined;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function call(key: string): Promise<Response> {
  return fetch(`${url}${NO_SUCH_PATH}`, { headers: { Authorization: `Bearer ${key}` } });
}

/** Sends `count` requests, `IN_FLIGHT` at any time. A 404 means admitted. A request without a response ends its loop. */
async function admittedOf(count: number, onAdmitted: (soFar: number) => void = () => {}): Promise<number> {
  let left = count;
  let admitted = 0;
  const sendInTurn = async () => {
    while (left-- > 0) {
      const response = await call(bursting.key).catch(() => undefined);
      if (!response) return;
      await response.arrayBuffer().catch(() => undefined);
      if (response.status === 404) onAdmitted(++admitted);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sendInTurn));
  return admitted;
}

async function pollUntilBanned(): Promise<Response> {
  for (let polls = 0; polls < 400; polls++) {
    const response = await call(banned.key);
    const body: unknown = await response.clone().json();
    if (typeof body === "object" && body !== null && "code" in body && body.code === "key_banned") {
      return response;
    }
    await pause(250);
  }
  throw new Error("no ban within 400 polls");
}

describe("SIGKILL of the running service", () => {
  it("admits no request above the limit, loses at most the block that was reserved, and a live ban stays", async ({
    expect,
  }) => {
    await start();
    const ban = await pollUntilBanned();
    let killed: Promise<void> | undefined;
    const before = await admittedOf(BURSTING.perDay, (soFar) => {
      if (soFar === 150) killed = kill();
    });
    await killed;
    expect(before).toBeGreaterThanOrEqual(150);
    expect(before).toBeLessThan(BURSTING.perDay);

    await start();
    const banAfter = await call(banned.key);
    expect(banAfter.status).toBe(429);
    expect(await banAfter.json()).toMatchObject({ code: "key_banned" });
    expect(banAfter.headers.get("X-RateLimit-Reset")).toBe(ban.headers.get("X-RateLimit-Reset"));

    const admitted = before + (await admittedOf(BURSTING.perDay + 50));
    expect(admitted).toBeLessThanOrEqual(BURSTING.perDay);
    // Requests in flight at the SIGKILL may have been counted, although they got no response.
    expect(admitted).toBeGreaterThanOrEqual(BURSTING.perDay - BLOCK - IN_FLIGHT);
  }, 120_000);
});
