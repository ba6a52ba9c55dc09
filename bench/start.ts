/**
 * `--start`: what an isolate of the service costs until its first answer, beside a bare Hono Worker. Each is
 * loaded as a dynamic Worker into a workerd that runs already: the start of a process would cost five times as
 * much as the script.
 */
import { loadavg } from "node:os";
import { basename } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { COMPATIBILITY_DATE } from "../test/support/database.ts";
import { builtModules, modulesIn, scriptModule, type WorkerModule } from "../test/support/worker-modules.ts";
import {
  cpuMsOf,
  findWorkerd,
  residentMegabytesOf,
  type WorkerdProcess,
} from "../test/support/workerd-process.ts";
import { ROOT } from "./build.ts";
import { NO_SUCH_PATH } from "./cases.ts";
import type { OnStep } from "./measure.ts";
import { type Spread, shuffled, spreadOf } from "./statistics.ts";
import { type Column, tableOf } from "./table.ts";

const ROUNDS = 24;
const MEMORY_ROUNDS = 5;
const KEPT_ISOLATES = 20;
const BARE = "bare Hono Worker";
const ADMIN_TOKEN = "only-for-the-bench-0123456789-abcdef";

/** The first answer of an isolate needs no binding: a 401, or a 404 for a signed-in operator. */
const FIRST = {
  client: { path: NO_SUCH_PATH, headers: {} },
  operator: { path: "/admin/none", headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } },
};
type Who = keyof typeof FIRST;

type Bundle = { readonly name: string; readonly modules: readonly WorkerModule[] };
type Values = { readonly client: number[]; readonly operator: number[]; readonly memory: number[] };

export type StartResult = {
  readonly name: string;
  readonly kilobytes: number;
  /** How much more than the bare Worker in the same round: CPU milliseconds, and megabytes. */
  readonly client: Spread;
  readonly operator: Spread;
  readonly memory: Spread;
};

/** `folders`: what other commits upload. The modules of this commit come twice, which shows the noise. */
export async function measureStart(folders: readonly string[], onStep: OnStep): Promise<StartResult[]> {
  const modules = await builtModules();
  const bundles: Bundle[] = [
    { name: BARE, modules: [scriptModule(await bareScript())] },
    { name: "service", modules },
    { name: "service again", modules },
    ...folders.map((each) => ({ name: basename(each), modules: modulesIn(each) })),
  ];
  const measured = new Map(
    bundles.map(({ name }): [string, Values] => [name, { client: [], operator: [], memory: [] }]),
  );
  await withLoader(bundles, async (load, workerd) => {
    for (let round = 0; round <= ROUNDS; round++) {
      onStep(`round ${round} of ${ROUNDS}, load ${loadavg()[0]?.toFixed(1)}`);
      for (const { name } of shuffled(bundles))
        for (const who of ["client", "operator"] as const) {
          const beforeMs = cpuMsOf(workerd);
          await load(name, who, 1);
          // The first round fills workerd's own caches.
          if (round > 0) measured.get(name)?.[who].push(cpuMsOf(workerd) - beforeMs);
        }
    }
  });
  for (let round = 1; round <= MEMORY_ROUNDS; round++) {
    onStep(`memory, round ${round} of ${MEMORY_ROUNDS}`);
    for (const { name } of shuffled(bundles))
      await withLoader(bundles, async (load, workerd) => {
        await load(name, "client", KEPT_ISOLATES);
        const before = residentMegabytesOf(workerd).now;
        await load(name, "client", KEPT_ISOLATES);
        measured.get(name)?.memory.push((residentMegabytesOf(workerd).now - before) / KEPT_ISOLATES);
      });
  }
  const bare = measured.get(BARE);
  return bundles.map(({ name, modules }) => {
    const over = (what: keyof Values) =>
      spreadOf((measured.get(name)?.[what] ?? []).map((value, i) => value - (bare?.[what][i] ?? Number.NaN)));
    return {
      name,
      kilobytes:
        modules.reduce((sum, { type, contents }) => sum + (type === "ESModule" ? contents.length : 0), 0) /
        1024,
      client: over("client"),
      operator: over("operator"),
      memory: over("memory"),
    };
  });
}

type Load = (name: string, who: Who, isolates: number) => Promise<void>;

async function withLoader(
  bundles: readonly Bundle[],
  use: (load: Load, workerd: WorkerdProcess) => Promise<void>,
): Promise<void> {
  const scripts = Object.fromEntries(
    bundles.map(({ name, modules }) => [
      name,
      Object.fromEntries(
        modules.map(({ type, path, contents }) => [path, type === "Text" ? { text: contents } : contents]),
      ),
    ]),
  );
  const script = `
    const modules = ${JSON.stringify(scripts)};
    const first = ${JSON.stringify(FIRST)};
    const env = { ENVIRONMENT_NAME: "production", ADMIN_TOKEN: "${ADMIN_TOKEN}" };
    const kept = [];
    export default { async fetch(request, { LOADER }) {
      const { name, who, isolates } = await request.json();
      for (let i = 0; i < isolates; i++) {
        const compatibilityDate = "${COMPATIBILITY_DATE}";
        const options = { compatibilityDate, mainModule: "index.js", modules: modules[name], env, globalOutbound: null };
        const worker = LOADER.get(String(kept.length), () => options);
        kept.push(worker);
        const response = await worker.getEntrypoint().fetch("http://example.com" + first[who].path, first[who]);
        await response.arrayBuffer();
      }
      return new Response(null, { status: 204 });
    } }`;
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      modules: [{ ...scriptModule(script), type: "ESModule" }],
      compatibilityDate: COMPATIBILITY_DATE,
      handleStructuredLogs: () => {},
      workerLoaders: { LOADER: {} },
    }),
  );
  try {
    const url = await miniflare.ready;
    const workerd = findWorkerd();
    if (workerd === undefined) throw new Error("This system has no /proc, so no CPU time.");
    const load: Load = async (name, who, isolates) => {
      const { status } = await fetch(url, { method: "POST", body: JSON.stringify({ name, who, isolates }) });
      if (status !== 204) throw new Error(`${name} could not be loaded: ${status}`);
    };
    await use(load, workerd);
  } finally {
    await miniflare.dispose();
  }
}

async function bareScript(): Promise<string> {
  const contents = `
    export { default } from "./bench/limiters/bare.ts";
    import { DurableObject } from "cloudflare:workers";
    export class KeyLimiter extends DurableObject {}`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: "esnext",
    external: ["cloudflare:*"],
  });
  return outputFiles[0]?.text ?? "";
}

const spread = ({ median, low, high }: Spread) =>
  `${median.toFixed(1)} (${low.toFixed(1)}–${high.toFixed(1)})`;

export function printStart(results: readonly StartResult[]): void {
  const base = results.at(-1);
  /** A share of the last one, which is the oldest commit. */
  const cell = (what: "client" | "operator" | "memory") => (row: StartResult) => {
    if (row.name === BARE || base === undefined) return "";
    return `${spread(row[what])}, ${(row[what].median / base[what].median).toFixed(2)}`;
  };
  const columns: Column<StartResult>[] = [
    { head: "", cell: ({ name }) => name },
    { head: "KiB", cell: ({ kilobytes }) => kilobytes.toFixed(0) },
    { head: "a client's first: CPU ms over bare", cell: cell("client") },
    { head: "an operator's first", cell: cell("operator") },
    { head: "MB over bare", cell: cell("memory") },
  ];
  console.log(tableOf(columns, results));
  console.log(
    `\nMedians and quartiles of ${ROUNDS} rounds in random order, of memory ${MEMORY_ROUNDS} of ${KEPT_ISOLATES} isolates, and the share of the last row: an isolate is loaded into a running workerd and answers once.`,
  );
}
