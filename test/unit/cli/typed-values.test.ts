/** What was typed, in the errors of the command line. */
import { describe, it } from "vitest";
import { optionProblem } from "../../../src/tools/deploy-problems.ts";
import { runAdmin } from "../../support/cli.ts";

const ENV = { ADMIN_URL: "http://localhost:1", ADMIN_TOKEN: "a-token" };

/** As `.dev.vars` has one, which no variable of the environment names. */
const LOCAL_TOKEN = "nT4vQ8xK2mW7pR1zL5sD9hB3yC6jF0gA";

const SECRETS = [
  "https://me:swordfish@host.example",
  "https://me:sword#fish@host.example",
  "me:swordfish@host.example",
  "https://host.example/?token=swordfish",
  "egBoqJXzCCpCTC8pW3kYf0uVd7sLh2nRxqyhjA",
  LOCAL_TOKEN,
];

describe("a secret in the wrong place", () => {
  const places: [string, (secret: string) => string[]][] = [
    ["an argument too many", (secret) => ["keys", "list", secret]],
    ["two arguments too many", (secret) => ["keys", "list", secret.slice(0, 20), secret]],
    ["a command", (secret) => [secret]],
    ["a subcommand", (secret) => ["keys", secret]],
    ["a number", (secret) => ["keys", "list", "--limit", secret]],
    ["a duration, after =", (secret) => ["keys", "list", `--timeout=${secret}`]],
    ["an option that does not exist", (secret) => ["keys", "list", `--urll=${secret}`]],
    ["an id", (secret) => ["keys", "show", secret]],
    ["the address of a command that asks", (secret) => ["keys", "revoke", "key_1", "--url", secret]],
    ["a file", (secret) => ["orders", "import", secret]],
    ["the address", (secret) => ["keys", "list", "--url", secret]],
  ];
  for (const [place, argvOf] of places) {
    it(`is not repeated: ${place}`, async ({ expect }) => {
      for (const secret of SECRETS) {
        const { code, out, err } = await runAdmin(argvOf(secret), ENV);
        expect([code === 1 || code === 2, out], secret).toEqual([true, ""]);
        expect(err).toMatch(/^error: /);
        for (const part of [secret, "fish", LOCAL_TOKEN.slice(0, 20)]) expect(err).not.toContain(part);
      }
    });
  }
});

it("is not repeated by npm run deploy", ({ expect }) => {
  const problem = optionProblem(["--var", "ADMIN_TOKEN:swordfish", "-n", "T:swordfish"], {});
  expect(problem).toMatch(/^--var … -n … is not known here\./);
});

describe("what was mistyped is repeated", () => {
  const cases: [string[], string][] = [
    [["keys", "list", " "], "error: too many arguments for 'list'. Expected 0 arguments but got 1:  ."],
    [["keyss"], "error: unknown command 'keyss'\n(Did you mean keys?)"],
    [["keys", "list", "--timout=5s"], "error: unknown option '--timout=5s'"],
    [["keys", "list", "--limit", "5x"], "argument '5x' is invalid."],
    [["keys", "list", "surplus"], "too many arguments for 'list'. Expected 0 arguments but got 1: surplus."],
    [["audit", "--from", "2026-13-30T10:42:00+01:00"], "argument '2026-13-30T10:42:00+01:00' is invalid."],
  ];
  for (const [argv, message] of cases) {
    it(argv.join(" "), async ({ expect }) => {
      const { code, err } = await runAdmin(argv, ENV);
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    });
  }
});
