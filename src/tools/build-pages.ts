/** Builds the pages into the folder of wrangler.toml's [assets]. wrangler runs this before it starts or deploys. */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { buildSync, type Metafile } from "esbuild";
import { packageFoldersIn } from "./bundled-packages.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const PAGES = join(ROOT, "src", "pages");
const ASSETS = join(ROOT, "dist", "assets");
/** Digests of the sources that the assets were built from, and of the assets. Beside the assets, so that it is not deployed. */
const STAMP = join(ROOT, "dist", "assets.stamp");

/** Files that are copied: from src/pages to the assets. */
const COPIED = {
  _headers: "_headers",
  _redirects: "_redirects",
  "docs/docs.html": "docs.html",
  "console/console.html": "console.html",
  "shared/icon.svg": "docs/icon.svg",
};

/** Files that are bundled: the asset, without the extension that esbuild gives it, from its source. */
const BUNDLED = {
  "docs/page": "docs/page.tsx",
  "docs/page.css": "docs/page.css",
  "console/app": "console/main.tsx",
  "console/app.css": "console/console.css",
};

/** The licenses of the packages in the bundles, which their authors require to go with the code. */
const LICENSES = "docs/licenses.txt";

/** What the pages bundle of the Worker. */
const OF_WORKER = [
  "src/worker/admin/admin-token.ts",
  "src/worker/auth/key-format.ts",
  "src/worker/csv.ts",
  "src/worker/db/values.ts",
  "src/worker/is-json.ts",
  "src/worker/orders/import-format.ts",
  "src/worker/orders/import-limits.ts",
  "src/worker/orders/import-requests.ts",
];

const FILES = [
  ...Object.values(COPIED),
  ...Object.keys(BUNDLED).map((name) => (name.endsWith(".css") ? name : `${name}.js`)),
  LICENSES,
];

/** Several processes may call this at once, also while others serve the files: current files are not replaced. */
function buildPages(): void {
  removeOtherAssets();
  const sources = digestOf(sourceFiles());
  const stamp = () => `${sources} ${digestOf(FILES.map((file) => join(ASSETS, file)))}`;
  const isComplete = FILES.every((file) => existsSync(join(ASSETS, file)));
  if (isComplete && existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp()) return;
  const fresh = `${ASSETS}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  refuseOtherInputs(writePages(fresh));
  replaceAssets(fresh);
  writeFileSync(STAMP, stamp());
}

/** wrangler would deploy them: all files of the folder. */
function removeOtherAssets(): void {
  if (!existsSync(ASSETS)) return;
  for (const entry of readdirSync(ASSETS, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const isOther = !FILES.some((each) => join(ASSETS, each) === file);
    if (isOther && !entry.isDirectory()) rmSync(file, { force: true });
  }
}

export function writePages(folder: string): Metafile {
  for (const [source, asset] of Object.entries(COPIED)) cpSync(join(PAGES, source), join(folder, asset));
  const entryPoints = Object.entries(BUNDLED).map(([asset, source]) => ({
    in: join(PAGES, source),
    out: asset.replace(/\.css$/, ""),
  }));
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    entryPoints,
    bundle: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "inline",
    banner: { js: `/*! Licenses: /${LICENSES} */` },
    outdir: folder,
    logLevel: "error",
    metafile: true,
  });
  writeFileSync(join(folder, LICENSES), licensesOf(metafile));
  return metafile;
}

function licensesOf(metafile: Metafile): string {
  const texts = packageFoldersIn([metafile]).map((folder) => {
    const file = readdirSync(join(ROOT, folder)).find((name) => /^licen[cs]e/i.test(name));
    if (file === undefined) throw new Error(`${folder} is bundled, and has no license file.`);
    const name = folder.replace(/^.*node_modules\//, "");
    return `${name}\n\n${readFileSync(join(ROOT, folder, file), "utf8").trim()}\n`;
  });
  return texts.join("\n---\n\n");
}

/** Otherwise a change of another file of the Worker would leave old pages in place. */
function refuseOtherInputs({ inputs }: Metafile): void {
  const others = Object.keys(inputs).filter(
    (file) => file.includes("src/worker/") && !OF_WORKER.includes(file),
  );
  if (others.length > 0) throw new Error(`The pages bundle ${others.join(", ")}: add it to OF_WORKER.`);
}

/** Renames file by file, which is atomic: a process that serves them never finds one missing. */
function replaceAssets(fresh: string): void {
  for (const file of FILES) {
    mkdirSync(dirname(join(ASSETS, file)), { recursive: true });
    renameSync(join(fresh, file), join(ASSETS, file));
  }
  rmSync(fresh, { recursive: true, force: true });
}

/** The pages, what they bundle of the Worker, this program, and the versions of the bundled packages. */
function sourceFiles(): string[] {
  return [
    ...globSync("**/*.*", { cwd: PAGES })
      .map((file) => join(PAGES, file))
      .sort(),
    ...["_headers", "_redirects"].map((file) => join(PAGES, file)),
    ...OF_WORKER.map((file) => join(ROOT, file)),
    import.meta.filename,
    join(ROOT, "package-lock.json"),
  ];
}

function digestOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex");
}

if (import.meta.main) buildPages();
