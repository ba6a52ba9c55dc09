/** Generates clients as their users do: with hey-api, orval and swagger-typescript-api, and a Postman collection. */
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProcess } from "../../support/cli.ts";
import { readText } from "../../support/sources.ts";

/** Each has a program of the same name in this folder, which imports its client from `./generated`. */
export const CLIENTS = ["hey-api", "orval", "swagger-typescript-api"] as const;

/** npm puts a package here if it needs another version of TypeScript than the project has. */
const OWN_BIN = join(import.meta.dirname, "../node_modules/.bin");
const BIN = join(import.meta.dirname, "../../../node_modules/.bin");
/** What the generated code allows: without `exactOptionalPropertyTypes` and the rules against unused names. */
const TSCONFIG = {
  compilerOptions: {
    ...{
      target: "ESNext",
      module: "ESNext",
      moduleResolution: "Bundler",
      lib: ["ESNext", "DOM", "DOM.Iterable"],
    },
    ...{ strict: true, noUncheckedIndexedAccess: true, isolatedModules: true, noEmit: true, types: [] },
  },
};

/** `url` is that of the document. */
export async function generateClients(url: string, folder: string): Promise<void> {
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  for (const program of [...CLIENTS, "outcome"]) {
    copyFileSync(join(import.meta.dirname, `${program}.ts`), join(folder, `${program}.ts`));
  }
  await Promise.all(CLIENTS.map((client) => runAsShown(client, url, folder)));
}

/** Runs the commands of the documentation page. The tools are the installed ones, so that nothing is downloaded. */
async function runAsShown(client: string, url: string, folder: string): Promise<void> {
  const text = readText(`src/pages/docs/examples/clients/${client}.sh`);
  const commands = text
    .replaceAll("http://localhost:8787", new URL(url).origin)
    .replace(/^npx (?:--package=\S+ )*(\S+)/m, (_all, program) => `"${fileOf(program)}"`);
  const { code, out, err } = await runProcess("sh", ["-ec", commands], {}, { cwd: folder });
  if (code !== 0) throw new Error(`${client} ended with ${code}:\n${out}${err}`);
}

/** `document` is a file. */
export async function postmanCollection(document: string, folder: string): Promise<string> {
  const file = join(folder, "postman.json");
  await run(folder, "openapi2postmanv2", ["-s", document, "-o", file]);
  return file;
}

/** What the compiler finds in the clients and the programs that use them. */
export async function compile(folder: string): Promise<string> {
  const { out, err } = await runProcess(join(BIN, "tsc"), ["-p", folder]);
  return out + err;
}

async function run(folder: string, program: string, args: readonly string[]): Promise<void> {
  const { code, out, err } = await runProcess(fileOf(program), args, {}, { cwd: folder });
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${out}${err}`);
}

function fileOf(program: string): string {
  const own = join(OWN_BIN, program);
  return existsSync(own) ? own : join(BIN, program);
}
