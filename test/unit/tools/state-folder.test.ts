/** The lock of the state folder, taken by several processes at once. */
import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import {
  type Holder,
  lockFolder,
  recordWrangler,
  requireFolder,
  unlockFolder,
} from "../../../src/tools/state-folder.ts";
import { PROJECT, temporaryFolder } from "../../support/cli.ts";

const folder = temporaryFolder();
const { pid: ENDED_PID } = spawnSync("true");

let folders = 0;
function newFolder(files: Record<string, string> = {}): string {
  const made = join(folder, String(folders++));
  mkdirSync(made);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text);
  return made;
}

describe("several starts at once", () => {
  let children: ChildProcess[];

  beforeAll(async () => {
    const program = join(PROJECT, "test/support/lock-folder.ts");
    children = Array.from({ length: 3 }, () => fork(program, ["start.ts"], { execArgv: [] }));
    await Promise.all(children.map((child) => once(child, "message")));
  });
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
  });

  async function lockByAll(state: string): Promise<(Holder | undefined)[]> {
    const answers = Promise.all(children.map((child) => once(child, "message")));
    for (const child of children) child.send(state);
    return (await answers).map(([{ holder }]) => holder);
  }

  it.for([
    ["a new folder", {}],
    ["a folder with the lock of a killed start", { lock: JSON.stringify({ pid: ENDED_PID, port: 1 }) }],
    ["a folder with the lock and the claim of killed starts", { lock: "{", [`lock.${ENDED_PID}.1`]: "" }],
  ] as const)(
    "one of them has %s, and the others name it",
    { timeout: 20_000 },
    async ([, files], { expect }) => {
      for (let round = 0; round < 5; round++) {
        const state = newFolder(files);
        const answers = await lockByAll(state);
        const holders = children.filter((_, i) => answers[i] === undefined);
        expect(holders).toHaveLength(1);
        const pid = holders[0]?.pid;
        expect(answers.filter((answer) => answer !== undefined)).toEqual([
          { pid, port: pid },
          { pid, port: pid },
        ]);
        expect(readdirSync(state)).toEqual(["lock"]);
      }
    },
  );
});

describe("the lock", () => {
  const own = { pid: process.pid, port: 8787 };

  it("is readable by its owner only, and is removed at the end", async ({ expect }) => {
    const state = newFolder();
    expect(await lockFolder(state, own.port)).toBeUndefined();
    recordWrangler(state, own.port, 12_345);
    expect(JSON.parse(readFileSync(join(state, "lock"), "utf8"))).toEqual({ ...own, wranglerGroup: 12_345 });
    expect(statSync(join(state, "lock")).mode & 0o777).toBe(0o600);
    unlockFolder(state);
    expect(readdirSync(state)).toEqual([]);
  });

  it("of another process is neither changed nor removed", ({ expect }) => {
    const other = JSON.stringify({ pid: ENDED_PID, port: 1 });
    const state = newFolder({ lock: other });
    expect(() => recordWrangler(state, own.port, 12_345)).toThrow(
      `The state folder ${state} cannot be used: its lock was removed or replaced`,
    );
    unlockFolder(state);
    expect(readFileSync(join(state, "lock"), "utf8")).toBe(other);
  });

  it("that is a FIFO is replaced", async ({ expect }) => {
    const state = newFolder();
    spawnSync("mkfifo", [join(state, "lock")]);
    expect(await lockFolder(state, own.port)).toBeUndefined();
    expect(JSON.parse(readFileSync(join(state, "lock"), "utf8"))).toEqual(own);
    unlockFolder(state);
  });

  it("that is a link is replaced, and its target is not changed", async ({ expect }) => {
    const state = newFolder({ target: JSON.stringify(own) });
    symlinkSync("target", join(state, "lock"));
    recordWrangler(state, own.port, 12_345);
    expect(readFileSync(join(state, "target"), "utf8")).toBe(JSON.stringify(own));
    expect(lstatSync(join(state, "lock")).isFile()).toBe(true);
  });
});

describe("a `v3` that exists", () => {
  it("becomes readable by its owner only, and the folder around it keeps its mode", ({ expect }) => {
    const state = newFolder();
    const data = join(state, "v3");
    mkdirSync(data);
    for (const path of [state, data]) chmodSync(path, 0o755);
    requireFolder(state);
    expect([state, data].map((path) => statSync(path).mode & 0o777)).toEqual([0o755, 0o700]);
  });
});

// Only root may give a file to another user.
describe.runIf(process.getuid?.() === 0)("a `v3` of another user", () => {
  it("is not used in a folder of root, and the target of a link keeps its mode", ({ expect }) => {
    const linked = newFolder();
    const target = newFolder();
    const mode = statSync(target).mode;
    symlinkSync(target, join(linked, "v3"));
    lchownSync(join(linked, "v3"), 65_534, 65_534);
    const made = newFolder();
    mkdirSync(join(made, "v3"));
    chownSync(join(made, "v3"), 65_534, 65_534);
    for (const state of [linked, made]) {
      expect(() => requireFolder(state)).toThrow(`${join(state, "v3")} belongs to another user`);
    }
    expect(statSync(target).mode).toBe(mode);
  });

  it("is used in a folder of the same user, as in a container", ({ expect }) => {
    const state = newFolder();
    mkdirSync(join(state, "v3"));
    for (const path of [state, join(state, "v3")]) chownSync(path, 65_534, 65_534);
    expect(() => requireFolder(state)).not.toThrow();
  });
});
