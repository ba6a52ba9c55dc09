/** The npm packages: pinned, each with an integrity hash, and without scripts that run on install. */
import { build } from "esbuild";
import { describe, it } from "vitest";
import { PROJECT } from "../support/cli.ts";
import { readText } from "../support/sources.ts";

type Dependencies = Record<string, string>;
type Manifest = {
  dependencies: Dependencies;
  devDependencies: Dependencies;
  optionalDependencies: Dependencies;
  scripts: Record<string, string>;
};
type Locked = { version?: string; integrity?: string; link?: boolean; dependencies?: Dependencies };

// The tests below fail if the files have another shape.
const manifest = JSON.parse(readText("package.json")) as Manifest;
const lockfile = JSON.parse(readText("package-lock.json")) as { packages: Record<string, Locked> };
const locked = Object.entries(lockfile.packages);

/** Programs for other platforms. The registry did not have these versions when the lockfile was written. */
const WITHOUT_HASH =
  /^node_modules\/@(?:biomejs\/cli-(?:android|darwin|win32|linux-\w+-musl)|cloudflare\/workerd-(?:darwin|windows))/;

describe("the packages", () => {
  it("have exact versions", ({ expect }) => {
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(versions.length).toBeGreaterThan(20);
    const isLoose = (version: string) => !/^(?:\d+\.\d+\.\d+(?:-[\w.]+)?|file:.+)$/.test(version);
    expect(versions.filter(([, version]) => isLoose(version))).toEqual([]);
  });

  it("are among `dependencies` if they are deployed, and only then, without packages of their own", async ({
    expect,
  }) => {
    const { metafile } = await build({
      absWorkingDir: PROJECT,
      entryPoints: [
        "src/worker/index.ts",
        "src/assets/scripts/console.ts",
        "src/assets/scripts/docs.ts",
        "src/assets/scripts/reference.ts",
      ],
      bundle: true,
      format: "esm",
      conditions: ["workerd"],
      external: ["cloudflare:*", "node:*"],
      loader: { ".txt": "text" },
      metafile: true,
      write: false,
      outdir: "dist/unused",
    });
    const inputs = Object.keys(metafile.inputs).map((path) =>
      /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path),
    );
    const deployed = new Set(inputs.flatMap((match) => match?.[1] ?? []));
    expect([...deployed].toSorted()).toEqual(Object.keys(manifest.dependencies).toSorted());
    const nested = locked.filter(
      ([path, { dependencies }]) => dependencies && deployed.has(path.slice("node_modules/".length)),
    );
    expect(nested).toEqual([]);
  });

  it("have an integrity hash in the lockfile, except those of this repository", ({ expect }) => {
    const ofRegistry = locked.filter(([path, { link }]) => path.includes("node_modules/") && !link);
    const unpinned = ofRegistry.filter(
      ([path, { integrity }]) => !integrity?.startsWith("sha512-") && !WITHOUT_HASH.test(path),
    );
    expect(unpinned.map(([path]) => path)).toEqual([]);
  });

  it("run nothing when they are installed, and neither does this one", ({ expect }) => {
    expect(readText(".npmrc").split("\n")).toContain("ignore-scripts=true");
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post|install|prepare)/.test(name))).toEqual(
      [],
    );
  });
});
