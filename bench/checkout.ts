/** The service of a checkout, in a workerd of its own that listens itself. D1 and the objects can be far away. */
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { COMPATIBILITY_DATE, databaseWorker, migrate, openDatabase } from "../test/support/database.ts";
import { workerdProcesses } from "../test/support/workerd-process.ts";
import { ROOT } from "./build.ts";
import type { Limits } from "./cases.ts";
import { send } from "./load.ts";
import type { FarCosts } from "./worker/delayed.ts";

const ADMIN_TOKEN = "only-for-the-bench-0123456789-abcdef";
const NAME = "checkout";

export type Checkout = Awaited<ReturnType<typeof startCheckout>>;

/** `folder`: a checkout in which `npm ci && npm run build` was run. */
export async function startCheckout(folder: string) {
  const root = resolve(folder);
  const known = workerdProcesses().map(({ pid }) => pid);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      workers: [
        {
          name: NAME,
          modules: [{ type: "ESModule" as const, path: "worker.js", contents: await buildCheckout(root) }],
          compatibilityDate: COMPATIBILITY_DATE,
          bindings: { ADMIN_TOKEN },
          d1Databases: { DB: NAME },
          durableObjects: { KEY_LIMITER: { className: "KeyLimiter", useSQLite: true } },
          ratelimits: {
            ADMIN_SIGN_IN_IP_RATE_LIMIT: {
              namespace_id: "1",
              simple: { limit: 1_000_000, period: 60 as const },
            },
          },
          unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        },
        databaseWorker({ DB: NAME }),
      ],
    }),
  );
  await miniflare.ready;
  const url = await miniflare.unsafeGetDirectURL(NAME);
  const db = await openDatabase(miniflare, "DB");
  await migrate(db, join(root, "migrations"));
  const tell = (path: string) => send(url, { path, headers: {} });
  return {
    url,
    db,
    workerd: workerdProcesses().find(({ pid }) => !known.includes(pid)),
    /** Its `Authorization`. */
    createKey: (limits: Limits) => createKey(url, limits),
    /** How far D1 and the objects are, in milliseconds. */
    setDistance: ({ d1, object }: { d1: number; object: number }) =>
      tell(`/far/set?d1=${d1}&object=${object}`),
    /** An isolate without MAC keys and without a list. */
    makeCold: () => tell("/far/cold"),
    takeCosts: async () => JSON.parse((await tell("/far/costs")).body) as FarCosts, // made from a value of this type
    close: () => miniflare.dispose(),
  };
}

async function createKey(url: URL, { perMinute, perDay }: Limits): Promise<string> {
  const response = await fetch(new URL("/admin/keys", url), {
    method: "POST",
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      name: "bench",
      plan: "enterprise",
      requestsPerMinute: perMinute,
      requestsPerDay: perDay,
    }),
  });
  const { key } = (await response.json()) as { key?: string };
  if (key === undefined) throw new Error(`no key was created: ${response.status}`);
  return `Bearer ${key}`;
}

async function buildCheckout(root: string): Promise<string> {
  const contents = `
    import { countStorage } from ${JSON.stringify(join(ROOT, "bench/worker/counting.ts"))};
    import { answerAboutFar, lateDatabase, lateObjects } from ${JSON.stringify(join(ROOT, "bench/worker/delayed.ts"))};
    import { createApp } from "./src/worker/app.ts";
    import { KeyLimiter as Limiter } from "./src/worker/index.ts";
    export class KeyLimiter extends Limiter {
      constructor(ctx, env) { countStorage(ctx.storage); super(ctx, env); }
    }
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
