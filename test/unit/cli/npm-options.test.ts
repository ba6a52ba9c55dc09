/** Options that npm takes for itself when `--` is forgotten. The environment is as npm 11 leaves it. */
import { describe, it } from "vitest";
import { runAdmin } from "../../support/cli.ts";

const ADMIN_TOKEN = "nT4vQ8xK2mW7pR1zL5sD9hB3";
/** Nothing listens there: a request would be an exit code 1. */
const NOWHERE = { ADMIN_URL: "http://localhost:1", ADMIN_TOKEN: "a-token" };

describe("an option that npm has taken is an exit code 2 with the line to type", () => {
  const cases: [string, string[], Record<string, string>, string, string][] = [
    [
      "--grace=24h",
      ["keys", "rotate", "key_1"],
      { grace: "24h" },
      "--grace",
      "keys rotate key_1 --grace 24h",
    ],
    [
      "--grace 24h",
      ["keys", "rotate", "key_1", "24h"],
      { grace: "true" },
      "--grace",
      "keys rotate key_1 --grace 24h",
    ],
    [
      "--grace 24h ID",
      ["keys", "rotate", "24h", "key_1"],
      { grace: "true" },
      "--grace",
      "keys rotate key_1 --grace 24h",
    ],
    ["--forgive", ["bans", "lift", "key_1"], { forgive: "true" }, "--forgive", "bans lift key_1 --forgive"],
    ["--url=U", ["plans", "list"], { url: "https://x" }, "--url", "plans list --url https://x"],
    [
      "--status active",
      ["keys", "list", "active"],
      { status: "true" },
      "--status",
      "keys list --status active",
    ],
    ["--json", ["plans", "list"], { json: "true" }, "--json", "plans list --json"],
    [
      "--name 'a b'",
      ["keys", "update", "key_1"],
      { name: "a b" },
      "--name",
      "keys update key_1 --name 'a b'",
    ],
    [
      "--plan pro",
      ["keys", "list", "pro"],
      { all: "true", long: "true", parseable: "true" },
      "--plan",
      "keys list --plan pro",
    ],
    [
      "--dry-run, which the command does not have",
      ["keys", "disable", "key_1"],
      { dry_run: "true" },
      "--dry-run",
      "keys disable key_1 --dry-run",
    ],
    [
      "--note=",
      ["keys", "update", "key_1"],
      { note: "" },
      "--note",
      "keys update …, and the rest as you typed it",
    ],
    ["--watch=9s", ["usage"], { watch: "9s" }, "--watch", "usage --watch 9s"],
    ["--watch 9s", ["usage", "9s"], { watch: "true" }, "--watch", "usage --watch 9s"],
    ["--watch", ["usage"], { watch: "true" }, "--watch", "usage --watch"],
    ["--by hour", ["usage", "hour"], { bypass_2fa: "true" }, "--by", "usage --by hour"],
    [
      "--days 5",
      ["keys", "usage", "key_1", "5"],
      { all: "true", yes: "true" },
      "--days",
      "keys usage key_1 --days 5",
    ],
    [
      "--url=U with a password",
      ["plans", "list"],
      { url: "https://me:swordfish@x" },
      "--url",
      "plans list …, and the rest as you typed it",
    ],
    [
      "two options whose values cannot be told apart",
      ["plans", "set", "pro", "5", "10"],
      { per_minute: "true", per_day: "true" },
      "--per-minute, --per-day",
      "plans set …, and the rest as you typed it",
    ],
  ];
  for (const [title, args, config, names, line] of cases) {
    it(title, async ({ expect }) => {
      const left = Object.entries(config).map(([name, value]) => [`npm_config_${name}`, value]);
      const env = { ...NOWHERE, npm_lifecycle_event: "admin", ...Object.fromEntries(left) };
      const err = `error: npm has taken ${names} for itself, or an .npmrc sets it. Type -- before the command: npm run -s admin -- ${line}\n`;
      expect(await runAdmin(args, env)).toEqual({ code: 2, out: "", err });
    });
  }

  it.for([
    ["search", "keys list", `sok_${"1a".repeat(16)}`],
    ["hint", "keys find", `sok_${"1a".repeat(16)}`],
    ["note", "keys issue x", `leaked: sok_${"1a".repeat(16)}`],
    ["actor", "audit", ADMIN_TOKEN],
    // Of another command.
    ["reason", "plans list", ADMIN_TOKEN],
  ] as const)("without a secret: --%s in %s", async ([name, command, secret], { expect }) => {
    const env = { ...NOWHERE, ADMIN_TOKEN, npm_lifecycle_event: "admin", [`npm_config_${name}`]: secret };
    const { code, out, err } = await runAdmin(command.split(" "), env);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^error: .* must not be an argument/);
    expect(err).not.toContain(secret);
  });

  it("also in npm run smoke", async ({ expect }) => {
    const env = { ...NOWHERE, npm_lifecycle_event: "smoke", npm_config_url: "https://x" };
    const { code, err } = await runAdmin(["smoke"], env);
    expect([code, err]).toEqual([2, expect.stringContaining("npm run -s admin -- smoke --url https://x\n")]);
  });
});

describe("the command line runs", () => {
  it("with options after --, and outside of npm", async ({ expect }) => {
    const given = { ...NOWHERE, npm_lifecycle_event: "admin", npm_config_json: "true" };
    expect((await runAdmin(["plans", "list", "--json"], given)).code).toBe(1);
    expect((await runAdmin(["plans", "list"], { ...given, npm_lifecycle_event: "test" })).code).toBe(1);
    const switchedOff = { ...NOWHERE, npm_lifecycle_event: "admin", npm_config_json: "" };
    expect((await runAdmin(["plans", "list"], switchedOff)).code).toBe(1);
  });
});

describe("a rotation", () => {
  it("needs a grace, which may be 0", async ({ expect }) => {
    const { code, err } = await runAdmin(["keys", "rotate", "key_1"], NOWHERE);
    expect(code).toBe(2);
    expect(err).toContain("required option '--grace <duration>' not specified");
  });
});
