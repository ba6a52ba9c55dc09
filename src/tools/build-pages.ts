/**
 * Builds the static assets in the folder of wrangler.toml's [assets], the page at /docs, and the OpenAPI documents
 * of clients and of the admin API. wrangler runs this program before it starts or deploys.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import scalarPlugin from "@scalar/fastify-api-reference";
import { buildSync } from "esbuild";
import { parse } from "yaml";
import { buildWorker } from "./build-worker.ts";
import { type Contract, docsPage } from "./docs-page.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const SOURCE = join(ROOT, "src", "assets");
const DIST = join(ROOT, "dist");
const ASSETS = join(DIST, "assets");

function buildPages(): void {
  put("_headers", readFileSync(join(SOURCE, "_headers")));
  put("docs/icon.svg", readFileSync(join(SOURCE, "icon.svg")));
  const script = scalarScript();
  const scriptName = `docs/scalar-${createHash("sha256").update(script).digest("hex").slice(0, 16)}.js`;
  put(scriptName, script);
  const page = readFileSync(join(SOURCE, "reference.html"), "utf8").replace("docs/scalar.js", scriptName);
  for (const asset of ["docs/try.html", "docs/admin.html"]) put(asset, page);
  rmSync(join(ASSETS, "docs.html"), { force: true }); // up to 2.2 /docs was a file, which would hide the Worker's page
  for (const other of globSync("docs/scalar-*.js", { cwd: ASSETS }))
    if (other !== scriptName) rmSync(join(ASSETS, other), { force: true });
  const { outputFiles } = buildSync({
    entryPoints: [
      { in: join(SOURCE, "scripts/console.ts"), out: "console/console" },
      { in: join(SOURCE, "console.css"), out: "console/console" },
      // Cloudflare Access may protect /console, so the page of owners has its own files.
      { in: join(SOURCE, "scripts/owner.ts"), out: "owner/console" },
      { in: join(SOURCE, "console.css"), out: "owner/console" },
      { in: join(SOURCE, "scripts/docs.ts"), out: "docs/page" },
      { in: join(SOURCE, "docs.css"), out: "docs/page" },
      { in: join(SOURCE, "scripts/reference.ts"), out: "docs/reference" },
      { in: join(SOURCE, "reference.css"), out: "docs/reference" },
    ],
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    outdir: ASSETS,
    write: false,
    logLevel: "error",
  });
  for (const { path, contents } of outputFiles) put(relative(ASSETS, path), contents);
}

type Route = {
  readonly url: string;
  readonly handler: (request: undefined, reply: Reply) => void;
};
type Reply = { header(): Reply; send(text: string): void };

/**
 * Scalar's standalone script, from Scalar's plugin for Fastify. The package @scalar/api-reference has the
 * same script, and 200 packages more.
 */
function scalarScript(): string {
  const scripts: string[] = [];
  const reply: Reply = { header: () => reply, send: (text) => scripts.push(text) };
  const route = ({ url, handler }: Route) => {
    if (url.endsWith(".js")) handler(undefined, reply);
  };
  scalarPlugin({ route }, { configuration: { url: "/openapi.json" } }, () => {});
  const [script] = scripts;
  if (script === undefined) throw new Error("Scalar's plugin has no route for its script.");
  return script;
}

/** Builds may run at once while files are served, so each changed file is replaced in one step. */
function put(asset: string, content: string | Uint8Array): void {
  const file = join(ASSETS, asset);
  if (existsSync(file) && readFileSync(file).equals(Buffer.from(content))) return;
  mkdirSync(dirname(file), { recursive: true });
  const fresh = join(DIST, `page.${process.pid}`);
  writeFileSync(fresh, content);
  renameSync(fresh, file);
}

/**
 * Bundles the Worker's routes and replaces a module of the runtime that Node lacks. Without the bundle Node
 * takes 2 s, because Node parses drizzle-orm's large package.json for each module of drizzle-orm.
 */
async function buildReference(): Promise<void> {
  const runtime = "data:text/javascript,export class DurableObject {}; export const waitUntil = undefined";
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "cloudflare:workers" ? { url: runtime, shortCircuit: true } : next(specifier, context),
  });
  const [bundle] = buildSync({
    entryPoints: [join(ROOT, "src/tools/admin-reference.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["cloudflare:workers", "*.txt"],
    write: false,
    logLevel: "error",
  }).outputFiles;
  if (bundle === undefined) throw new Error("esbuild wrote no file");
  put("../admin-reference.js", bundle.contents);
  const { adminReference }: typeof import("./admin-reference.ts") = await import(
    pathToFileURL(join(DIST, "admin-reference.js")).href
  );
  put("../admin-openapi.txt", JSON.stringify(adminReference()));
}

/** `merge`: a `<<` in the file takes over the members of another part. */
function buildContract(): void {
  const contract = readFileSync(join(ROOT, "src/openapi/openapi.yaml"), "utf8");
  const document: Contract = parse(contract, { merge: true });
  put("../openapi.txt", JSON.stringify(document));
  put("../docs.txt", docsPage(document));
}

buildPages();
buildContract();
await buildReference();
await buildWorker((file, content) => put(relative(ASSETS, file), content));
