/** What a real npm leaves of each option of the command line if `--` is forgotten. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { beforeAll, describe, it } from "vitest";
import { createProgram } from "../../src/cli/run-cli.ts";
import { runAdmin, runProcess, temporaryFolder } from "../support/cli.ts";

/** npm reads this as `-c -s -v`, prints its own version, and runs nothing. */
const ENDS_NPM = "--csv";
/** npm has an option of this name, which a configuration may set. The command asks, or is refused with the command to type. */
const OF_NPM = "--yes";
/** npm reads these as its own one-letter options, so they are tried alone. */
const READ_AS_LETTERS = ["--plan", "--day", "--days", "--by"];
/** Values that npm could take for those of an option of its own. */
const SAMPLES: Readonly<Record<string, string>> = { "--expires-at": "2099-01-01", "--limit": "5" };

type Left = { argv: string[]; env: Record<string, string> };

const folder = temporaryFolder();
const io = {
  env: {},
  stdin: process.stdin,
  isInteractive: false,
  stdout: process.stdout,
  stderr: process.stderr,
  interruption: new AbortController().signal,
};
const program = createProgram([], io, () => {});
const commands = leavesOf(program, []);

beforeAll(() => {
  writeFileSync(join(folder, "package.json"), '{"scripts":{"admin":"node left.mjs"}}');
  const print = "console.log(JSON.stringify({ argv: process.argv.slice(2), env: process.env }))";
  writeFileSync(join(folder, "left.mjs"), print);
});

function leavesOf(
  command: Command,
  path: readonly string[],
): { path: readonly string[]; options: Option[] }[] {
  if (command.commands.length === 0) return [{ path, options: [...command.options, ...program.options] }];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

async function leftBy(args: readonly string[]): Promise<Left> {
  const { out } = await runProcess("npm", ["run", "-s", "admin", ...args], {}, { cwd: folder });
  const left: Left = JSON.parse(out.slice(out.indexOf("{")));
  const kept = Object.entries(left.env).filter(([name]) => /^npm_(config_|lifecycle_event)/.test(name));
  return { argv: left.argv, env: Object.fromEntries(kept) };
}

function typed({ long = "", required }: Option, isJoined: boolean): string[] {
  if (!required) return [long];
  const value = SAMPLES[long] ?? "x";
  return isJoined ? [`${long}=${value}`] : [long, value];
}

/** The command line's answer in an environment that npm has left. Nothing listens at the address. */
async function answer(path: readonly string[], { env }: Left): Promise<{ code: number | null; err: string }> {
  return runAdmin(path, { ...env, ADMIN_URL: "http://localhost:1", ADMIN_TOKEN: "a-token" });
}

describe.each([
  ["--option=value", true],
  ["--option value", false],
])("npm without --, and %s", (_, isJoined) => {
  const special = [ENDS_NPM, OF_NPM, ...READ_AS_LETTERS];
  const every = new Map(commands.flatMap(({ options }) => options.map((each) => [each.long ?? "", each])));

  it("leaves each option, and every command refuses all of its own", async ({ expect }) => {
    const ordinary = [...every.values()].filter(({ long = "" }) => !special.includes(long));
    const left = await leftBy(ordinary.flatMap((option) => typed(option, isJoined)));
    for (const { path, options } of commands) {
      const { code, err } = await answer(path, left);
      expect(code, path.join(" ")).toBe(2);
      const named = /npm has taken (.*) for itself/.exec(err)?.[1]?.split(", ") ?? [];
      const expected = options.map(({ long = "" }) => long).filter((long) => !special.includes(long));
      expect(named, path.join(" ")).toEqual(expect.arrayContaining(expected));
    }
  });

  it.each(READ_AS_LETTERS)("leaves %s as other options", async (long) => {
    const users = commands.filter(({ options }) => options.some((each) => each.long === long));
    const option = every.get(long);
    if (option === undefined) throw new Error(`there is no ${long}`);
    const left = await leftBy(typed(option, isJoined));
    for (const { path } of users) {
      const { code, err } = await answer(path, left);
      if (code !== 2 || !err.includes(`npm has taken ${long} for itself`)) throw new Error(`${path}: ${err}`);
    }
  });
});

describe("npm without --", () => {
  it(`prints its version for ${ENDS_NPM}, and runs nothing`, async ({ expect }) => {
    const { out } = await runProcess(
      "npm",
      ["run", "-s", "admin", "keys", "list", ENDS_NPM],
      {},
      { cwd: folder },
    );
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("ends the command line and npm start with the command to type", async ({ expect }) => {
    const rotate = await runProcess("npm", "run -s admin keys rotate key_1 --grace=24h".split(" "));
    expect([rotate.code, rotate.out]).toEqual([2, ""]);
    expect(rotate.err).toContain("npm run -s admin -- keys rotate …");
    const start = await runProcess("npm", ["start", "-s", "--port=24999"]);
    expect(start.code).toBe(2);
    expect(start.err).toContain("npm start -- …");
  });
});
