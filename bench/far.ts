/**
 * `--far`: lists of a service whose D1 is 80 ms away and whose objects are 40 ms away, beside another checkout
 * of the service in the same run. Cold is an isolate without MAC keys and without a list.
 */
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import {
  COMPATIBILITY_DATE,
  databaseWorker,
  insertOrders,
  migrate,
  openDatabase,
} from "../test/support/database.ts";
import { ROOT } from "./build.ts";
import { LIST } from "./cases.ts";
import { send } from "./load.ts";
import type { OnStep } from "./measure.ts";
import { shuffled, spreadOf } from "./statistics.ts";
import { type Column, tableOf } from "./table.ts";

const FAR = { d1: 80, object: 40 };
const ORDERS = 1_000;
const ROUNDS = 6;
const PAUSE_MS = 100;
const ADMIN_TOKEN = "only-for-the-bench-0123456789-abcdef";

type Times = { readonly p50: number; readonly p95: number; readonly queries: number };
export type FarResult = {
  readonly name: string;
  readonly atOnce: number;
  readonly here: Times;
  readonly base: Times;
};

const CASES = [
  { name: "304", isCold: false, hasTag: true, atOnce: 1 },
  { name: "304", isCold: false, hasTag: true, atOnce: 5 },
  { name: "304", isCold: false, hasTag: true, atOnce: 20 },
  { name: "1,000 orders", isCold: false, hasTag: false, atOnce: 1 },
  { name: "1,000 orders", isCold: false, hasTag: false, atOnce: 5 },
  { name: "1,000 orders", isCold: false, hasTag: false, atOnce: 20 },
  { name: "1,000 orders, cold", isCold: true, hasTag: false, atOnce: 1 },
  { name: "1,000 orders, cold", isCold: true, hasTag: false, atOnce: 20 },
];

/** `baseFolder`: a checkout in which `npm ci && npm run build` was run. */
export async function measureFar(baseFolder: string, onStep: OnStep): Promise<FarResult[]> {
  const services = { here: await startFar(ROOT), base: await startFar(resolve(baseFolder)) };
  try {
    const results: FarResult[] = [];
    for (const each of CASES) {
      onStep(`${each.name}, ${each.atOnce} at once`);
      const rounds = { here: [] as Round[], base: [] as Round[] };
      for (let round = 0; round < ROUNDS; round++)
        for (const which of shuffled(["here", "base"] as const))
          rounds[which].push(await services[which].measure(each));
      results.push({
        name: each.name,
        atOnce: each.atOnce,
        here: timesOf(rounds.here),
        base: timesOf(rounds.base),
      });
    }
    return results;
  } finally {
    await Promise.all(Object.values(services).map(({ close }) => close()));
  }
}

type Round = { readonly latenciesMs: readonly number[]; readonly queries: number };

function timesOf(rounds: readonly Round[]): Times {
  const all = rounds.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
  const queries = rounds.reduce((sum, round) => sum + round.queries, 0) / all.length;
  return { p50: spreadOf(all).median, p95: all[Math.floor(all.length * 0.95)] ?? Number.NaN, queries };
}

async function startFar(root: string) {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      workers: [
        {
          name: "far",
          modules: [{ type: "ESModule" as const, path: "worker.js", contents: await buildFar(root) }],
          compatibilityDate: COMPATIBILITY_DATE,
          bindings: { ADMIN_TOKEN },
          d1Databases: { DB: "far" },
          durableObjects: { KEY_LIMITER: { className: "KeyLimiter", useSQLite: true } },
          ratelimits: {
            ADMIN_SIGN_IN_IP_RATE_LIMIT: {
              namespace_id: "1",
              simple: { limit: 1_000_000, period: 60 as const },
            },
          },
        },
        databaseWorker({ DB: "far" }),
      ],
    }),
  );
  const url = await miniflare.ready;
  const db = await openDatabase(miniflare, "DB");
  await migrate(db, join(root, "migrations"));
  await insertOrders(db, ORDERS);
  const key = await createKey(url);
  const headers = { Authorization: `Bearer ${key}` };
  const tell = (path: string) => send(url, { path, headers: {} });
  const list = (tag?: string) =>
    send(url, {
      path: LIST,
      headers: { ...headers, ...(tag === undefined ? {} : { "If-None-Match": tag }) },
    });
  const tag = (await list()).headers.get("ETag") ?? "";
  await tell(`/far/set?d1=${FAR.d1}&object=${FAR.object}`);

  const timed = async (expected: number, hasTag: boolean) => {
    const sentAtMs = performance.now();
    const { status } = await list(hasTag ? tag : undefined);
    if (status !== expected) throw new Error(`a list got ${status}`);
    return performance.now() - sentAtMs;
  };
  return {
    close: () => miniflare.dispose(),
    measure: async ({ isCold, hasTag, atOnce }: (typeof CASES)[number]): Promise<Round> => {
      const times = isCold ? 1 : 12;
      await tell("/far/queries");
      const client = async () => {
        const latenciesMs: number[] = [];
        for (let i = 0; i < times; i++) {
          if (!isCold) await pause(Math.random() * PAUSE_MS);
          latenciesMs.push(await timed(hasTag ? 304 : 200, hasTag));
        }
        return latenciesMs;
      };
      if (isCold) await tell("/far/cold");
      const latenciesMs = (await Promise.all(Array.from({ length: atOnce }, client))).flat();
      const queries = Number((await tell("/far/queries")).body);
      return { latenciesMs, queries };
    },
  };
}

async function createKey(url: URL): Promise<string> {
  const response = await fetch(new URL("/admin/keys", url), {
    method: "POST",
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      name: "bench",
      plan: "enterprise",
      requestsPerMinute: 30_000,
      requestsPerDay: 30_000_000,
    }),
  });
  const { key } = (await response.json()) as { key?: string };
  if (key === undefined) throw new Error(`no key was created: ${response.status}`);
  return key;
}

async function buildFar(root: string): Promise<string> {
  const contents = `
    import { answerAboutFar, lateDatabase, lateObjects } from ${JSON.stringify(join(ROOT, "bench/worker/delayed.ts"))};
    import { createApp } from "./src/worker/app.ts";
    import { KeyLimiter as Limiter } from "./src/worker/index.ts";
    export class KeyLimiter extends Limiter {}
    let app = createApp();
    let late;
    export default {
      fetch(request, env, ctx) {
        const url = new URL(request.url);
        if (url.pathname === "/far/cold") { app = createApp(); return new Response(null, { status: 204 }); }
        late ??= { ...env, DB: lateDatabase(env.DB), KEY_LIMITER: lateObjects(env.KEY_LIMITER) };
        return answerAboutFar(url) ?? app.fetch(request, late, ctx);
      },
    };`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    loader: { ".txt": "text", ".html": "text" },
    banner: { js: "console.log = () => {};" },
    logLevel: "error",
  });
  const [script] = outputFiles;
  if (!script) throw new Error("esbuild wrote no file");
  return script.text;
}

export function printFar(results: readonly FarResult[]): void {
  const ratio = (part: "p50" | "p95") => (each: FarResult) => (each.here[part] / each.base[part]).toFixed(2);
  const ms = (which: "here" | "base") => (each: FarResult) =>
    `${Math.round(each[which].p50)}, ${Math.round(each[which].p95)}`;
  const columns: Column<FarResult>[] = [
    { head: "request", cell: ({ name }) => name },
    { head: "at once", cell: ({ atOnce }) => String(atOnce) },
    { head: "base p50, p95 ms", cell: ms("base") },
    { head: "here", cell: ms("here") },
    { head: "ratio p50", cell: ratio("p50") },
    { head: "ratio p95", cell: ratio("p95") },
    {
      head: "D1 queries a request",
      cell: ({ base, here }) => `${base.queries.toFixed(2)} → ${here.queries.toFixed(2)}`,
    },
  ];
  console.log(tableOf(columns, results));
}
