/** Options that npm takes for itself when `--` is forgotten. The environment is as npm 11 leaves it. */
import { describe, it } from "vitest";
import { runAdmin } from "../../support/cli.ts";

/** Nothing listens there: a request would be an exit code 1. */
const NOWHERE = { ADMIN_URL: "http://localhost:1", ADMIN_TOKEN: "a-token" };

const SECRET = "https://me:swordfish@x";

describe("an option that npm has taken is an exit code 2 with the command to type, and no value", () => {
  const cases: [string, string[], Record<string, string>, string, string][] = [
    ["--grace=24h", ["keys", "rotate", "key_1"], { grace: "24h" }, "--grace", "keys rotate"],
    ["--grace 24h", ["keys", "rotate", "key_1", "24h"], { grace: "true" }, "--grace", "keys rotate"],
    ["--grace 24h ID", ["keys", "rotate", "24h", "key_1"], { grace: "true" }, "--grace", "keys rotate"],
    ["--forgive", ["bans", "lift", "key_1"], { forgive: "true" }, "--forgive", "bans lift"],
    ["--url=U", ["plans", "list"], { url: SECRET }, "--url", "plans list"],
    ["--url U", ["plans", "list", SECRET], { url: "true" }, "--url", "plans list"],
    ["--url U first", [SECRET, "plans", "list"], { url: "true" }, "--url", ""],
    ["--json", ["plans", "list"], { json: "true" }, "--json", "plans list"],
    [
      "--plan pro",
      ["keys", "list", "pro"],
      { all: "true", long: "true", parseable: "true" },
      "--plan",
      "keys list",
    ],
    [
      "--dry-run, which the command does not have",
      ["keys", "disable", "key_1"],
      { dry_run: "true" },
      "--dry-run",
      "keys disable",
    ],
    ["--note=", ["keys", "update", "key_1"], { note: "" }, "--note", "keys update"],
    ["--watch", ["usage"], { watch: "true" }, "--watch", "usage"],
    ["--by hour", ["usage", "hour"], { bypass_2fa: "true" }, "--by", "usage"],
    ["--days 5", ["keys", "usage", "key_1", "5"], { all: "true", yes: "true" }, "--days", "keys usage"],
    [
      "two options",
      ["plans", "set", "pro", "5", "10"],
      { per_minute: "true", per_day: "true" },
      "--per-minute, --per-day",
      "plans set",
    ],
  ];
  for (const [title, args, config, names, command] of cases) {
    it(title, async ({ expect }) => {
      const left = Object.entries(config).map(([name, value]) => [`npm_config_${name}`, value]);
      const env = { ...NOWHERE, npm_lifecycle_event: "admin", ...Object.fromEntries(left) };
      const line = ["npm run -s admin --", command, "…, and the rest as you typed it"].filter((part) => part);
      const err = `error: npm has taken ${names} for itself, or an .npmrc sets it. Type -- before the command: ${line.join(" ")}\n`;
      expect(await runAdmin(args, env)).toEqual({ code: 2, out: "", err });
    });
  }

  it("also in npm run smoke", async ({ expect }) => {
    const env = { ...NOWHERE, npm_lifecycle_event: "smoke", npm_config_url: "https://x" };
    const { code, err } = await runAdmin(["smoke"], env);
    expect([code, err]).toEqual([2, expect.stringContaining("npm run -s admin -- smoke …")]);
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
