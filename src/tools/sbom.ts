/**
 * `npm run -s sbom`: prints a CycloneDX list of the packages in the deployed Worker and its pages. The bundles say which
 * these are, because `npm sbom --omit dev` leaves out a package that a devDependency needs too, such as hono.
 *
 * Exit codes: 0 printed; 1 not; 2 wrong usage.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import type { Metafile } from "esbuild";
import { writePages } from "./build-pages.ts";
import { packageFoldersIn } from "./bundled-packages.ts";
import { runTool } from "./run-tool.ts";
import { PROJECT_FOLDER, runWrangler } from "./wrangler.ts";

type Component = { readonly "bom-ref": string };
/** What npm prints, as far as it is used here. */
type Sbom = {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
};
type Manifest = { readonly name: string; readonly version: string };

const MAX_NPM_OUTPUT_BYTES = 64 * 1024 * 1024;

async function bundle(): Promise<Metafile[]> {
  const folder = mkdtempSync(join(tmpdir(), "store-orders-sbom-"));
  try {
    const meta = join(folder, "meta.json");
    const wrangler = runWrangler(["deploy", "--dry-run", "--outdir", folder, "--metafile", meta, "--env="]);
    if ((await wrangler.exited) !== 0) throw new Error(`The Worker does not build:\n${wrangler.output()}`);
    return [JSON.parse(readFileSync(meta, "utf8")), writePages(join(folder, "pages"))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `name@version` of each package that has code in a bundle. */
function packagesIn(metafiles: readonly Metafile[]): string[] {
  return packageFoldersIn(metafiles).map((folder) => {
    const manifest: Manifest = JSON.parse(readFileSync(join(PROJECT_FOLDER, folder, "package.json"), "utf8"));
    return `${manifest.name}@${manifest.version}`;
  });
}

function installedPackages(): Sbom {
  // npm names its own program. By the name npm, Windows finds no program: npm.cmd needs a shell.
  const { npm_execpath: npmProgram = "" } = process.env;
  if (npmProgram === "") throw new Error("Run this with npm: npm run -s sbom");
  // npm leaves out all of a type that it was told to omit, such as "dev" with NODE_ENV=production, also what is deployed.
  const types = ["dev", "optional", "peer"].map((type) => `--include=${type}`);
  const args = [npmProgram, "sbom", "--sbom-format", "cyclonedx", "--loglevel=error", ...types];
  const npm = execFileSync(process.execPath, args, {
    cwd: PROJECT_FOLDER,
    encoding: "utf8",
    maxBuffer: MAX_NPM_OUTPUT_BYTES,
    stdio: ["ignore", "pipe", "pipe"], // stderr: the error has what npm printed there, also after npm run -s
  });
  return JSON.parse(npm);
}

async function printSbom(): Promise<void> {
  const installed = installedPackages();
  const { component } = installed.metadata;
  const deployed = packagesIn(await bundle()).sort();
  const components = installed.components.filter((each) => deployed.includes(each["bom-ref"]));
  const missing = deployed.filter((ref) => !components.some((each) => each["bom-ref"] === ref));
  if (missing.length > 0) throw new Error(`npm sbom lists no ${missing.join(", ")}, which is deployed.`);
  const sbom = {
    ...installed,
    // npm takes the name of the folder.
    metadata: {
      ...installed.metadata,
      component: { ...component, name: "store-orders", type: "application" },
    },
    components,
    dependencies: [
      { ref: component["bom-ref"], dependsOn: deployed },
      ...deployed.map((ref) => ({ ref, dependsOn: [] })),
    ],
  };
  console.log(JSON.stringify(sbom, null, 2));
}

await runTool(
  new Command("npm run -s sbom --")
    .description("Prints a CycloneDX list, as JSON, of the packages in the deployed Worker and its pages.")
    .action(printSbom),
);
