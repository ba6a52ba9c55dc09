/** Builds the documentation page into the folder of wrangler.toml's [assets]. wrangler runs this before it starts or deploys. */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";

const ROOT = join(import.meta.dirname, "..", "..");
const PAGE = join(ROOT, "src", "pages", "docs");
const ASSETS = join(ROOT, "dist", "assets");
/** The digest of the sources that the assets were built from. Beside the assets, so that it is not deployed. */
const STAMP = join(ROOT, "dist", "assets.stamp");

const FILES = ["docs.html", "_headers", "docs/icon.svg", "docs/page.css", "docs/page.js"];

/** Several processes may call this at once, also while others serve the files: current files are not replaced. */
function buildPages(): void {
  const stamp = digestOfSources();
  const isComplete = FILES.every((file) => existsSync(join(ASSETS, file)));
  if (isComplete && existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp) return;
  const fresh = `${ASSETS}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  writePage(fresh);
  replaceAssets(fresh);
  writeFileSync(STAMP, stamp);
}

function writePage(folder: string): void {
  mkdirSync(join(folder, "docs"), { recursive: true });
  cpSync(join(PAGE, "docs.html"), join(folder, "docs.html"));
  cpSync(join(PAGE, "_headers"), join(folder, "_headers"));
  cpSync(join(PAGE, "icon.svg"), join(folder, "docs", "icon.svg"));
  buildSync({
    entryPoints: [join(PAGE, "page.ts")],
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "inline",
    outdir: join(folder, "docs"),
    logLevel: "error",
  });
  buildSync({
    entryPoints: [join(PAGE, "page.css")],
    minify: true,
    outdir: join(folder, "docs"),
    logLevel: "error",
  });
}

/** Renames file by file, which is atomic: a process that serves them never finds one missing. */
function replaceAssets(fresh: string): void {
  mkdirSync(join(ASSETS, "docs"), { recursive: true });
  for (const file of FILES) renameSync(join(fresh, file), join(ASSETS, file));
  rmSync(fresh, { recursive: true, force: true });
}

/** Covers the page, this program, and the versions of the bundled packages. */
function digestOfSources(): string {
  const files = [
    ...readdirSync(PAGE, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(PAGE, entry.name))
      .sort(),
    import.meta.filename,
    join(ROOT, "package-lock.json"),
  ];
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex");
}

if (import.meta.main) buildPages();
