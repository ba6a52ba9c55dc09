/** The modules of a built Worker, as Miniflare takes them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { workerFiles } from "../../src/tools/build-worker.ts";
import { setup as buildPages } from "./build-pages.ts";

export type WorkerModule = {
  readonly type: "ESModule" | "Text";
  readonly path: string;
  readonly contents: string;
};

const MAIN = "index.js";

/** A Worker that is one file. */
export const scriptModule = (contents: string): WorkerModule => ({ type: "ESModule", path: MAIN, contents });

let built: Promise<WorkerModule[]> | undefined;

/** The Worker has the documents as text, which the build makes. */
export function buildUnlessBuilt(): void {
  if (!existsSync(join(import.meta.dirname, "../../dist/admin-openapi.txt"))) buildPages();
}

/** As wrangler uploads them, of the present sources. */
export function builtModules(): Promise<WorkerModule[]> {
  buildUnlessBuilt();
  built ??= workerFiles().then((files) =>
    modulesOf(files.map(({ name, contents }) => [name, Buffer.from(contents).toString()])),
  );
  return built;
}

/** Those in a folder, as of another commit. */
export function modulesIn(folder: string): WorkerModule[] {
  return modulesOf(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

/** The entry point comes first. */
function modulesOf(files: readonly (readonly [name: string, text: string])[]): WorkerModule[] {
  return files
    .filter(([name]) => /\.(js|txt)$/.test(name))
    .map(([path, contents]): WorkerModule => {
      return { type: path.endsWith(".js") ? "ESModule" : "Text", path, contents };
    })
    .toSorted((a, b) => Number(b.path === MAIN) - Number(a.path === MAIN));
}
