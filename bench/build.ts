/** A Worker's file as one script, with the counting around it. */
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

export const ROOT = join(import.meta.dirname, "..");

/** `objectClass`: the name of the Durable Object that the file exports. */
export async function buildWorker(file: string, objectClass: string): Promise<string> {
  const contents = `
    import app, * as file from ${JSON.stringify(file)};
    import { countedApp, countObject, objectClassOf } from "./bench/worker/counted.ts";
    const Base = objectClassOf(file, "${objectClass}");
    export class ${objectClass} extends Base {
      constructor(ctx, env) { super(ctx, countObject(Base, ctx, env)); }
    }
    export default countedApp(app);`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    nodePaths: [join(ROOT, "node_modules")], // for a file outside of the project
    // Writing the log lines would take most of the time, and Cloudflare writes them in another way.
    banner: { js: "console.log = () => {};" },
    logLevel: "error",
  });
  const [script] = outputFiles;
  if (!script) throw new Error("esbuild wrote no file");
  return script.text;
}

/** The folder is removed afterwards, also when the process is interrupted. */
export async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "store-orders-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    return await use(folder);
  } finally {
    process.off("exit", remove);
    remove();
  }
}
