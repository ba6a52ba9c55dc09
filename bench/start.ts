/** `--start`: the CPU time of a fresh workerd until its first answer, beside a bare Hono Worker with the same bindings. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { LOCAL_ENV, wranglerCommand } from "../src/local/wrangler.ts";
import { COMPATIBILITY_DATE } from "../test/support/database.ts";
import { cpuMsOf, findWorkerd } from "../test/support/workerd-process.ts";
import { inTemporaryFolder, ROOT } from "./build.ts";
import { LIST } from "./cases.ts";
import type { OnStep } from "./measure.ts";
import { ratiosOf, type Spread, shuffled, spreadOf } from "./statistics.ts";
import { type Column, tableOf } from "./table.ts";

const ROUNDS = 12;
/** A round counts the start that other processes disturbed least. */
const STARTS_A_ROUND = 3;
const BARE = "bare Hono Worker";

type Modules = { type: "ESModule" | "Text"; path: string; contents: string }[];
type Bundle = { readonly name: string; readonly modules: Modules };

export type StartResult = {
  readonly name: string;
  readonly kilobytes: number;
  readonly cpuMs: Spread;
  /** How much more than the bare Worker in the same round, as a share of the bare Worker. */
  readonly excess: Spread;
};

/** `folders`: bundles of other commits. The bundle of this one comes twice, which shows the noise. */
export function measureStart(folders: readonly string[], onStep: OnStep): Promise<StartResult[]> {
  return inTemporaryFolder(async (folder) => {
    const dryRun = ["deploy", "--dry-run", "--env=", "--outdir", folder];
    execFileSync(process.execPath, wranglerCommand(dryRun), {
      cwd: ROOT,
      env: { ...process.env, ...LOCAL_ENV },
    });
    const modules = modulesIn(folder);
    const bundles: Bundle[] = [
      { name: BARE, modules: await bareModules() },
      { name: "service", modules },
      { name: "service again", modules },
      ...folders.map((each) => ({ name: basename(each), modules: modulesIn(each) })),
    ];
    const cpuMs = new Map(bundles.map(({ name }): [string, number[]] => [name, []]));
    for (let round = 1; round <= ROUNDS; round++) {
      onStep(`round ${round} of ${ROUNDS}, load ${loadavg()[0]?.toFixed(1)}`);
      const started = new Map(bundles.map(({ name }): [string, number[]] => [name, []]));
      for (const bundle of shuffled(Array.from({ length: STARTS_A_ROUND }, () => bundles).flat()))
        started.get(bundle.name)?.push(await startOnce(bundle));
      for (const [name, each] of started) cpuMs.get(name)?.push(Math.min(...each));
    }
    return bundles.map(({ name, modules: [main] }) => {
      const [own, bare] = [cpuMs.get(name) ?? [], cpuMs.get(BARE) ?? []];
      const { median, low, high } = ratiosOf(own, bare);
      return {
        name,
        kilobytes: (main?.contents.length ?? 0) / 1024,
        cpuMs: spreadOf(own),
        excess: { median: median - 1, low: low - 1, high: high - 1 },
      };
    });
  });
}

/** The files that `wrangler deploy --dry-run --outdir` has written. The main one comes first. */
function modulesIn(folder: string): Modules {
  const read = (path: string) => readFileSync(join(folder, path), "utf8");
  const texts = readdirSync(folder).filter((name) => name.endsWith(".txt"));
  return [
    { type: "ESModule", path: "index.js", contents: read("index.js") },
    ...texts.map((path) => ({ type: "Text" as const, path, contents: read(path) })),
  ];
}

async function bareModules(): Promise<Modules> {
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
  return [{ type: "ESModule", path: "index.js", contents: outputFiles[0]?.text ?? "" }];
}

async function startOnce({ name, modules }: Bundle): Promise<number> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      modules,
      compatibilityDate: COMPATIBILITY_DATE,
      handleStructuredLogs: () => {},
      d1Databases: { DB: "start" },
      durableObjects: { KEY_LIMITER: { className: "KeyLimiter", useSQLite: true } },
      ratelimits: {
        ADMIN_SIGN_IN_IP_RATE_LIMIT: { namespace_id: "1", simple: { limit: 200, period: 60 } },
      },
    }),
  );
  try {
    const response = await fetch(new URL(LIST, await miniflare.ready));
    await response.arrayBuffer();
    if (response.status !== (name === BARE ? 404 : 401))
      throw new Error(`${name} answered ${response.status}`);
    const workerd = findWorkerd();
    if (workerd === undefined) throw new Error("This system has no /proc, so no CPU time.");
    return cpuMsOf(workerd);
  } finally {
    await miniflare.dispose();
  }
}

const spread = ({ median, low, high }: Spread, digits: number) =>
  `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;

const columns: Column<StartResult>[] = [
  { head: "", cell: ({ name }) => name },
  { head: "KiB", cell: ({ kilobytes }) => kilobytes.toFixed(0) },
  { head: "CPU ms", cell: ({ cpuMs }) => spread(cpuMs, 0) },
  { head: "excess", cell: ({ name, excess }) => (name === BARE ? "" : spread(excess, 3)) },
];

export function printStart(results: readonly StartResult[]): void {
  console.log(tableOf(columns, results));
  console.log(
    `\nMedians and quartiles of ${ROUNDS} rounds, each the least of ${STARTS_A_ROUND} starts, in random order: CPU time of workerd, with its local D1, from its start to its first answer.`,
  );
}
