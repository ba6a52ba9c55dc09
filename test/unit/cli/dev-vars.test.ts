/** The file of secrets of the local instance: how ADMIN_TOKEN is read from it and added to it. */
import { execFileSync } from "node:child_process";
import fs, {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, describe, it } from "vitest";
import { ensureAdminToken, readAdminToken } from "../../../src/cli/dev-vars.ts";

const folder = mkdtempSync(join(tmpdir(), "store-orders-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the file of secrets", () => {
  it("is read as wrangler reads it", ({ expect }) => {
    const token = "0123456789abcdefghijklmnopqrstuvwxyz";
    const file = join(folder, "forms");
    for (const line of [
      `ADMIN_TOKEN=${token} # mine`,
      `export ADMIN_TOKEN='${token}'`,
      `ADMIN_TOKEN = "${token}"\r\nOTHER=x`,
      `ADMIN_TOKEN=first\nADMIN_TOKEN=${token}`,
    ]) {
      writeFileSync(file, `# secrets\n${line}\n`);
      expect(readAdminToken(file), line).toBe(token);
    }
    writeFileSync(file, "ADMIN_TOKEN=\n");
    expect(readAdminToken(file)).toBeUndefined();
  });

  it("is created with a random token, readable by its owner only", ({ expect }) => {
    const created = join(folder, "created");
    const token = ensureAdminToken(created);
    expect(statSync(created).mode & 0o777).toBe(0o600);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(readFileSync(created, "utf8")).toBe(`ADMIN_TOKEN=${token}\n`);
    expect(ensureAdminToken(created)).toBe(token);
  });

  it("gets a token if it has none, and keeps its other lines", ({ expect }) => {
    const known = join(folder, "known");
    writeFileSync(known, "OTHER=kept");
    ensureAdminToken(known);
    expect(readFileSync(known, "utf8")).toMatch(/^OTHER=kept\nADMIN_TOKEN=[\w-]{43}\n$/);
    expect(statSync(known).mode & 0o777).toBe(0o600);
  });

  it("becomes readable by its owner only, also if it has a token", ({ expect }) => {
    const open = join(folder, "open");
    writeFileSync(open, "ADMIN_TOKEN=known\n");
    for (const mode of [0o604, 0o640]) {
      chmodSync(open, mode); // the mode of a new file depends on the umask
      expect(ensureAdminToken(open)).toBe("known");
      expect(statSync(open).mode & 0o777).toBe(0o600);
    }
  });

  it("is not changed if it is no regular file", ({ expect }) => {
    const directory = join(folder, "directory");
    mkdirSync(directory, { mode: 0o755 });
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", ["-m", "644", pipe]);
    for (const path of [directory, pipe]) {
      const { mode } = statSync(path);
      expect(() => ensureAdminToken(path), path).toThrow("it is not a regular file");
      expect(statSync(path).mode, path).toBe(mode);
    }
  });

  it("gets one token from starts at the same moment", async ({ expect }) => {
    const files = Array.from({ length: 50 }, (_, index) => join(folder, `race-${index}`));
    const arrived = new Int32Array(new SharedArrayBuffer(4 * files.length));
    const [first, second] = await Promise.all([tokensOf(files, arrived), tokensOf(files, arrived)]);
    expect(first).toEqual(second);
    expect(files.map(readAdminToken)).toEqual(first);
  });
});

// Only root may give a file to another user.
describe.runIf(process.getuid?.() === 0)("a file of secrets of another user", () => {
  const NOBODY = 65_534;

  it("gets no token in a folder of root, and the target of a link keeps its mode", ({ expect }) => {
    const theirs = join(folder, "theirs");
    writeFileSync(theirs, "", { mode: 0o600 });
    chownSync(theirs, NOBODY, NOBODY);
    const own = join(folder, "own");
    writeFileSync(own, "");
    chmodSync(own, 0o644);
    const linkOfOther = join(folder, "link-of-other");
    symlinkSync(own, linkOfOther);
    lchownSync(linkOfOther, NOBODY, NOBODY);
    for (const path of [theirs, linkOfOther]) {
      expect(() => ensureAdminToken(path)).toThrow(`${path} belongs to another user`);
    }
    expect([theirs, own].map((path) => readFileSync(path, "utf8"))).toEqual(["", ""]);
    expect(statSync(own).mode & 0o777).toBe(0o644);
  });

  it("gets no token if it appears while a new one is made", ({ expect }) => {
    const raced = join(folder, "raced");
    const { linkSync } = fs;
    fs.linkSync = (existing, path) => {
      writeFileSync(path, "ADMIN_TOKEN=theirs\n");
      chownSync(path, NOBODY, NOBODY);
      linkSync(existing, path);
    };
    syncBuiltinESMExports();
    try {
      expect(() => ensureAdminToken(raced)).toThrow(`${raced} belongs to another user`);
    } finally {
      fs.linkSync = linkSync;
      syncBuiltinESMExports();
    }
  });

  it("gets one through an own link, and in a folder of the same user, as in a container", ({ expect }) => {
    const home = join(folder, "home");
    mkdirSync(home);
    writeFileSync(join(home, "vars"), "");
    const link = join(folder, "own-link");
    symlinkSync(join(home, "vars"), link);
    for (const path of [home, join(home, "vars")]) chownSync(path, NOBODY, NOBODY);
    expect(ensureAdminToken(link)).toMatch(/^[\w-]{43}$/);
    writeFileSync(join(home, "vars"), "");
    expect(ensureAdminToken(join(home, "vars"))).toMatch(/^[\w-]{43}$/);
  });
});

/** Calls `ensureAdminToken` for each file in a thread that waits for the other one before each call. */
function tokensOf(files: readonly string[], arrived: Int32Array): Promise<readonly string[]> {
  const program = `
    const { parentPort, workerData } = require("node:worker_threads");
    const { module, files, arrived } = workerData;
    import(module).then(({ ensureAdminToken }) =>
      parentPort.postMessage(files.map((file, index) => {
        Atomics.add(arrived, index, 1);
        while (Atomics.load(arrived, index) < 2);
        return ensureAdminToken(file);
      })));`;
  const module = new URL("../../../src/cli/dev-vars.ts", import.meta.url).href;
  const thread = new Worker(program, { eval: true, workerData: { module, files, arrived } });
  return new Promise((resolve, reject) => {
    thread.once("message", resolve);
    thread.once("error", reject);
  });
}
