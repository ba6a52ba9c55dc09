/** What the command line refuses, and how it reports what the service refuses. */
import { beforeAll, describe, it } from "vitest";
import { type Finished, runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

function cli(...args: string[]): Promise<Finished> {
  return runAdmin(args, { ADMIN_URL: service.url.href, ADMIN_TOKEN });
}

describe("an error", () => {
  const usageErrors: [string[], RegExp][] = [
    [[], /Usage: admin/],
    [["keys"], /Usage: admin keys/],
    [["kees", "list"], /unknown command 'kees'/],
    [["keys", "create", "--name", "x"], /required option '--plan <plan>'/],
    [
      ["keys", "create", "--name", "x", "--plan", "gold"],
      /Allowed choices are free, pro, business, enterprise/,
    ],
    [["keys", "update", "key_1", "--per-minute", "many"], /Use a whole number/],
    [["keys", "rotate", "key_1", "--grace", "1 day"], /Use a number and s, m, h or d, as in 24h/],
    [["keys", "update", "key_1"], /^error: Nothing to change: give an option \(--help\)\.$/m],
    [["plans", "set", "pro"], /^error: Nothing to change/],
    [["keys", "show"], /missing required argument 'id'/],
    [["keys", "show", "a", "b"], /too many arguments/],
    [["keys", "revoke", "key_1/ban"], /Use an id as the lists show it/],
    [["keys", "show", "key_1?x"], /Use an id as the lists show it/],
    [["bans", "lift", ".."], /Use an id as the lists show it/],
    [["orders", "ship", ""], /Use an id as the lists show it/],
    [["plans", "set", "gold", "--per-day", "1"], /Allowed choices are free, pro, business, enterprise/],
    [["keys", "list", "--limit", "all"], /Use a whole number/],
    [["bans", "list", "--state", "ended"], /Allowed choices are live, past, all/],
    [["keys", "show", "key_1", "--csv"], /--csv is for lists and usage/],
    [["keys", "list", "--csv", "--json"], /'--csv' cannot be used with option '--json'/],
    [["audit", "--colour"], /unknown option '--colour'/],
  ];
  it("in the arguments is reported on standard error with exit code 2, without a request", async ({
    expect,
  }) => {
    await Promise.all(
      usageErrors.map(async ([args, message]) => {
        const { code, out, err } = await runAdmin(args, { ADMIN_URL: "http://localhost:1", ADMIN_TOKEN });
        expect([code, out], args.join(" ")).toEqual([2, ""]);
        expect(err, args.join(" ")).toMatch(message);
      }),
    );
  });

  it("of the service is reported on standard error with exit code 1", async ({ expect }) => {
    const { id } = await service.createKey({ status: "revoked" });
    const refusals: [string[], string][] = [
      [["keys", "show", "key_1"], "No key has this id."],
      [["keys", "enable", id], "The key is revoked, which is permanent."],
      [
        ["keys", "create", "--name", "x", "--plan", "enterprise"],
        "--per-minute: is required, as plan enterprise has none of its own; --per-day: is required, as plan enterprise has none of its own",
      ],
      [
        ["keys", "create", "--name", "x", "--plan", "free", "--expires-at", "1999-01-01"],
        "--expires-at: must lie in the future",
      ],
      [["usage", "--day", "yesterday"], "--day: must be a day, as in 2026-11-21"],
    ];
    await Promise.all(
      refusals.map(async ([args, message]) => {
        expect(await cli(...args)).toEqual({ code: 1, out: "", err: `error: ${message}\n` });
      }),
    );
  });

  it("in the address or the token is reported, and the token is in no output", async ({ expect }) => {
    const secret = "a-token-that-must-be-in-no-output";
    const notAnAddress = "The address, from --url or ADMIN_URL, is not an http or https address.";
    const cases: [Record<string, string>, string][] = [
      [
        { ADMIN_URL: "http://localhost:1" },
        "http://localhost:1 cannot be reached. Is it running (npm start)?",
      ],
      [
        { ADMIN_URL: "http://127.0.0.9:1" },
        "http://127.0.0.9:1 would receive the admin token unencrypted: use https.",
      ],
      [{ ADMIN_URL: "localhost:8787" }, notAnAddress],
      [{ ADMIN_URL: secret, ADMIN_TOKEN: "http://localhost:1" }, notAnAddress],
      [
        { ADMIN_URL: `http://localhost:1/${secret}?token=${secret}` },
        "http://localhost:1 cannot be reached. Is it running (npm start)?",
      ],
      [
        { ADMIN_URL: "http://orders.example" },
        "http://orders.example would receive the admin token unencrypted: use https.",
      ],
      [
        { ADMIN_URL: "http://127.0.0.1.example" },
        "http://127.0.0.1.example would receive the admin token unencrypted: use https.",
      ],
      [{ ADMIN_URL: "http://[::1]:1" }, "http://[::1]:1 cannot be reached. Is it running (npm start)?"],
      [
        { ADMIN_URL: service.url.href },
        "The service refused the admin token. ADMIN_TOKEN must be the Worker's secret of this name; npm start has it in .dev.vars, or in its --vars-file.",
      ],
      [{ ADMIN_TOKEN: `${secret}\nx` }, "ADMIN_TOKEN has characters that a token cannot have."],
      [
        { ADMIN_URL: "https://orders.example", ADMIN_TOKEN: "" },
        "There is no admin token for https://orders.example: set ADMIN_TOKEN.",
      ],
    ];
    await Promise.all(
      cases.map(async ([env, message]) => {
        const { code, out, err } = await runAdmin(["keys", "list"], { ADMIN_TOKEN: secret, ...env });
        expect([code, out, err]).toEqual([1, "", `error: ${message}\n`]);
      }),
    );
  });
});
