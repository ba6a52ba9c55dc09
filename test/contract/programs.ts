/** Compiles and runs the programs that use generated clients, and says what each program must get. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { PROJECT, runProcess } from "../support/cli.ts";
import { LIST, type Service } from "../support/service.ts";

/** What generated code allows: without `exactOptionalPropertyTypes` and the rules against unused names. */
const COMPILER_OPTIONS = {
  target: "ESNext",
  module: "ESNext",
  moduleResolution: "Bundler",
  lib: ["ESNext", "DOM", "DOM.Iterable"],
  strict: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  types: [],
};

export function writeConfig(folder: string, options: object = {}): void {
  const compilerOptions = { ...COMPILER_OPTIONS, ...options };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
}

/** The client is expected in `generated`. */
export function copyProgram(program: string, folder: string): void {
  mkdirSync(join(folder, "generated"), { recursive: true });
  writeConfig(folder);
  for (const name of [program, "outcome"])
    copyFileSync(join(import.meta.dirname, "programs", `${name}.ts`), join(folder, `${name}.ts`));
}

/** What the compiler finds in the clients and the programs. */
export async function compile(folder: string): Promise<string> {
  const { out, err } = await runProcess(join(PROJECT, "node_modules/.bin/tsc"), ["-p", folder]);
  return out + err;
}

/** Runs a program with new keys, orders 1, 2 and 9007199254740993, and returns its outcome. */
export async function run(program: string, folder: string, service: Service): Promise<unknown> {
  await service.db
    .prepare(
      "insert or replace into orders (id, pet_id, quantity, ship_date, complete, status) values (1, 7, 2, '2026-11-24T09:00:00.000Z', 0, 'pending'), (2, 7, 1, null, null, 'shipped'), (9007199254740993, 7, 1, null, null, 'pending')",
    )
    .run();
  const usable = await service.createKey();
  const exhausted = await service.createKey({ perMinute: 1, perDay: 1 });
  await service.call(exhausted.key, LIST);
  const baseUrl = new URL("/v1", service.url).href;
  const keys = JSON.stringify({ baseUrl, usable: usable.key, exhausted: exhausted.key });
  const outfile = join(folder, `${program}.mjs`);
  await build({
    stdin: {
      contents: `import { run } from "./${program}"; console.log(JSON.stringify(await run(${keys})));`,
      resolveDir: folder,
    },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile,
    logLevel: "silent",
  });
  const { out, err } = await runProcess(process.execPath, [outfile]);
  return err === "" ? JSON.parse(out) : err;
}

export const EXPECTED = {
  listed: [
    { id: 1, petId: 7, quantity: 2, shipDate: "2026-11-24T09:00:00.000Z", complete: false },
    { id: 2, petId: 7, quantity: 1 },
    // docs/clients.md warns of this: the id of another order.
    { id: 9007199254740992, petId: 7, quantity: 1 },
  ],
  hasEtag: true,
  cancelled: 204,
  conflict: { status: 409, code: "order_already_shipped" },
  limited: { status: 429, code: "rate_limit_exceeded", waitsSeconds: true },
};
