/** What works on the repository itself: the hook before a commit, line ends in a clone, and what `npm run keep:release` refuses. */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { type Finished, PROJECT, runProcess, temporaryFolder } from "../support/cli.ts";

// git sets them for what it runs: with them, these tests would change the project's repository.
for (const name of Object.keys(process.env)) if (name.startsWith("GIT_")) delete process.env[name];

const folders = temporaryFolder();
let repositories = 0;

const UNFORMATTED = "export const  one = 1\n";
const FORMATTED = "export const one = 1;\n";

/** A repository with these files of the project in one commit, and the project's packages beside it. */
async function repository(files: readonly string[]) {
  const folder = join(folders, String(++repositories));
  for (const file of files) cpSync(join(PROJECT, file), join(folder, file), { recursive: true });
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  write("biome.json", "{}\n");
  // In place of the unit tests, which the hook runs.
  const packageJson = { type: "module", scripts: { "test:unit": "node --version" } };
  write("package.json", `${JSON.stringify(packageJson, undefined, "\t")}\n`);
  write(".gitignore", "node_modules\n");
  const run = (command: string, ...args: string[]): Promise<Finished> =>
    runProcess(command, args, { HUSKY: "1", GIT_CONFIG_GLOBAL: "/dev/null" }, { cwd: folder });
  const git = async (...args: string[]) => {
    const { code, out, err } = await run("git", ...args);
    if (code !== 0) throw new Error(err);
    return out;
  };
  await git("init", "--quiet");
  for (const name of ["user.name", "user.email"]) await git("config", name, "test");
  await git("add", ".");
  await git("commit", "--quiet", "--message=first");
  return { folder, write, run, git };
}

describe("the hook before a commit", () => {
  async function withHook() {
    const made = await repository([".husky/pre-commit"]);
    const { code, out } = await made.run("node", "node_modules/husky/bin.js");
    if (code !== 0) throw new Error(out);
    return made;
  }

  it("refuses what is not formatted or has an error, and writes nothing", async ({ expect }) => {
    const { write, run, git } = await withHook();
    const files = { "one.ts": UNFORMATTED, "zw\u00f6lf 12.ts": UNFORMATTED, "three.ts": "debugger;\n" };
    for (const [file, text] of Object.entries(files)) {
      write(file, text);
      await git("add", file);
      const { code, out, err } = await run("git", "commit", "--message=refused");
      expect([code, out + err]).toEqual([1, expect.stringContaining(file)]);
      expect(await git("show", `:${file}`)).toBe(text);
      write(file, FORMATTED);
      await git("commit", "--quiet", `--message=${file}`, "--all");
      expect(await git("show", `HEAD:${file}`)).toBe(FORMATTED);
    }
    expect(await git("status", "--short")).toBe("");
  });

  it("looks at what is committed, not at what is in the work tree", async ({ expect }) => {
    const { folder, write, run, git } = await withHook();
    const refused = async () => expect((await run("git", "commit", "--message=refused")).code).toBe(1);
    for (const text of [UNFORMATTED, "debugger;\n"]) {
      write("one.ts", text);
      await git("add", "one.ts");
      write("one.ts", FORMATTED);
      await refused();
      rmSync(join(folder, "one.ts"));
      await refused();
    }
    write("one.ts", FORMATTED);
    await git("add", "one.ts");
    write("one.ts", UNFORMATTED);
    await git("commit", "--quiet", "--message=one");
    expect(await git("show", "HEAD:one.ts")).toBe(FORMATTED);
    expect(await git("status", "--short")).toBe(" M one.ts\n");
  });

  it("does not commit a file that is only announced, or deleted, or no longer tracked", async ({
    expect,
  }) => {
    const { write, git } = await withHook();
    for (const file of ["deleted.ts", "kept.ts"]) write(file, FORMATTED);
    await git("add", ".");
    await git("commit", "--quiet", "--message=before");
    await git("rm", "--quiet", "deleted.ts");
    await git("rm", "--quiet", "--cached", "kept.ts");
    write("kept.ts", UNFORMATTED);
    for (const file of ["announced.ts", "announced.json"]) write(file, UNFORMATTED);
    await git("add", "--intent-to-add", "announced.ts", "announced.json");
    write("one.ts", FORMATTED);
    await git("add", "one.ts");
    await git("commit", "--quiet", "--message=one");
    expect(await git("show", "--format=", "--name-status", "--no-renames")).toBe(
      "D\tdeleted.ts\nD\tkept.ts\nA\tone.ts\n",
    );
    expect(await git("status", "--short")).toBe(" A announced.json\n A announced.ts\n?? kept.ts\n");
  });

  it("looks only at what `git commit PATH` names", async ({ expect }) => {
    const { write, run, git } = await withHook();
    for (const file of ["one.ts", "two.ts"]) write(file, UNFORMATTED);
    await git("add", ".");
    expect((await run("git", "commit", "--message=one", "one.ts")).code).toBe(1);
    write("one.ts", FORMATTED);
    await git("commit", "--quiet", "--message=one", "one.ts");
    expect(await git("show", "HEAD:one.ts")).toBe(FORMATTED);
    expect(await git("status", "--short")).toBe("A  two.ts\n");
  });
});

describe("a clone with core.autocrlf, as Git for Windows has it", () => {
  it("has the bytes of the repository", async ({ expect }) => {
    const files = ["tsconfig.json", ".github/workflows/ci.yml", "test/release/worker.js.gz"];
    const { folder, git } = await repository([".gitattributes", ...files]);
    await git("clone", "--quiet", "--config", "core.autocrlf=true", ".", "clone");
    for (const file of files) {
      const text = readFileSync(join(folder, "clone", file));
      expect(text.equals(readFileSync(join(PROJECT, file))), file).toBe(true);
    }
  });
});

describe("npm run keep:release", () => {
  it("names each file that is not as it was deployed, on a line of its own", async ({ expect }) => {
    const { folder, write, run } = await repository(["src/tools", "src/cli/stdout.ts", "wrangler.toml"]);
    mkdirSync(join(folder, "migrations"));
    for (const file of ["wrangler.toml", "migrations/0001.sql", "migrations/0002.sql"]) write(file, "");
    const { code, out, err } = await run("node", "src/tools/keep-release.ts");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toBe(
      "These files differ from HEAD. Check out the deployed commit first:\nwrangler.toml\nmigrations/0001.sql\nmigrations/0002.sql\n",
    );
  });
});
