/** Answers that the command line does not understand, as of another server or of another version of the service. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, it } from "vitest";
import { pagesOf } from "../../src/cli/commands/answers.ts";
import { runAdmin } from "../support/cli.ts";

let answer: string | ((path: string) => string) = "";
let requests = 0;
const server = createServer((request, response) => {
  requests++;
  response.end(typeof answer === "string" ? answer : answer(request.url ?? ""));
});

beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

function cli(...args: string[]) {
  return run(args, {});
}

function run(args: readonly string[], options: { isInteractive?: boolean }) {
  requests = 0;
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo;
  const env = { ADMIN_URL: `http://127.0.0.1:${port}`, ADMIN_TOKEN: "a-token-for-another-server" };
  return runAdmin(args, env, { input: '{"id":1}', ...options });
}

const ERROR = "error: The service answered something that this command does not understand.\n";

const LISTS = [
  "keys list",
  "keys usage key_a",
  "keys history key_a",
  "usage",
  "usage --by hour",
  "bans list",
  "plans list",
  "orders list",
  "orders imports",
  "orders cancelled",
  "audit",
];

const COMMANDS = [
  ...LISTS,
  "keys find --hint abcd",
  "keys show key_a",
  "keys create --name n --plan free",
  "keys update key_a --name n",
  "keys disable key_a",
  "keys rotate key_a --grace 0 --yes",
  "keys retire key_a 0123456789abcdef --yes",
  "keys revoke key_a --yes",
  "bans set key_a --for 1h --reason x",
  "bans lift key_a",
  "plans set free --per-minute 5 --yes",
  "orders show 1",
  "orders ship 1",
  "orders set-status 1 shipped",
  "orders delete 1 --yes",
  "orders export",
  "orders import -",
];

/** Each list with one element that has no members, or that is no list. */
function listsOf(list: unknown): string {
  const names = [
    "keys",
    "bans",
    "plans",
    "orders",
    "imports",
    "cancelled",
    "audit",
    "days",
    "hours",
    "events",
  ];
  const total = { keyCount: 0, admitted: 0, refused: 0, refusedWhileBanned: 0, hours: list };
  const lists = Object.fromEntries(names.map((name) => [name, list]));
  return JSON.stringify({ keyName: "n", day: "2026-11-22", complete: true, total, next: null, ...lists });
}

describe("an answer of another shape", () => {
  for (const body of ["{}", "null", "[]", "5"]) {
    it(`that is ${body} is one error for each command`, async ({ expect }) => {
      answer = body;
      for (const command of COMMANDS) {
        const { code, out, err } = await cli(...command.split(" "));
        expect([command, code, out, err.split(ERROR.trimEnd()).length]).toEqual([command, 1, "", 2]);
      }
    });
  }

  it("that is nested very deeply is one error", async ({ expect }) => {
    answer = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    expect(await cli("plans", "list")).toEqual({ code: 1, out: "", err: ERROR });
  });

  it("that has other elements is one error for each list, as a table and as CSV", async ({ expect }) => {
    for (const body of [listsOf([{}]), listsOf([null]), listsOf({ length: 1e9 }), listsOf("abc")]) {
      answer = body;
      for (const command of LISTS) {
        for (const format of [[], ["--csv"]]) {
          const { code, out, err } = await cli(...command.split(" "), ...format);
          expect([command, code, out, err]).toEqual([command, 1, "", ERROR]);
        }
      }
    }
  });

  it("that is no key is a failed step of the smoke test", async ({ expect }) => {
    answer = "{}";
    expect(await cli("smoke")).toMatchObject({ code: 1 });
  });
});

describe("an integer of 64 bits", () => {
  const id = "-9223372036854775808";

  it("has all its digits in a list, and no apostrophe as CSV", async ({ expect }) => {
    const order = `{"id":${id},"status":"pending","petId":null,"quantity":1,"shipDate":null,"complete":null}`;
    answer = `{"orders":[${order}],"next":null}`;
    expect((await cli("orders", "list")).out).toContain(`\n${id} `);
    expect((await cli("orders", "list", "--csv")).out).toContain(`\n${id},pending,,1,,\n`);
  });

  it("has all its digits in the audit log", async ({ expect }) => {
    const entry = `{"at":"a","actor":"b","call":"c","object":"d","before":{"id":${id},"x":[${id}]},"after":null}`;
    answer = `{"audit":[${entry}],"next":null}`;
    const { out } = await cli("audit", "--csv");
    expect(out).toContain(`id: ${id}`);
    expect(out).toContain(`x: [${id}]`);
  });
});

describe("a number of another service that no double has", () => {
  const number = "99999999999999999999";

  it("is printed with --json as it came, also where the answer is read", async ({ expect }) => {
    const body = `{"keys":[{"n":${number}}],"next":null}`;
    answer = body;
    expect(await cli("keys", "list", "--json")).toEqual({ code: 0, out: `${body}\n`, err: "" });
  });
});

describe("the list of keys", () => {
  it("has no more than its limit if the service answers with short pages", async ({ expect }) => {
    const list = (keys: number[], next: string | null) => JSON.stringify({ keys, next });
    answer = (path) => {
      const query = new URL(path, "http://service").searchParams;
      return query.has("after") ? list([3, 4].slice(0, Number(query.get("limit"))), "b") : list([1, 2], "a");
    };
    const { out } = await cli("keys", "list", "--limit", "3", "--json");
    expect(JSON.parse(out)).toEqual({ keys: [1, 2, 3], next: "b" });
  });
});

describe("the usage of a day", () => {
  const id = `key_${"a".repeat(32)}`;
  const figures = { admitted: 5, refused: 1, refusedWhileBanned: 0 };
  const owner = { ownerName: "Ada", ownerEmail: null, plan: "free" };
  const limits = { requestsPerMinute: 60, requestsPerDay: 1_000 };
  const usage = (
    lives: readonly (boolean | undefined)[],
    args: string[] = [],
    complete = true,
    keyCount = lives.length,
    next: string | null = null,
  ) => {
    const keys = lives.map((live) => ({
      ...{ keyId: id, keyName: "acme inc", ...owner, limits, percent: 0.5, live },
      ...figures,
    }));
    const total = { keyCount, ...figures, hours: [] };
    answer = JSON.stringify({ day: "2026-11-22", complete, total, plans: [], keys, next });
    return run(["usage", ...args], { isInteractive: true });
  };

  it("says on a terminal of 80 columns which figures are not live", async ({ expect }) => {
    const { out } = await usage([true, false]);
    expect(out).toMatch(/^key +name +percent +admitted +refused +live$/m);
    expect(out).toMatch(new RegExp(`^${id}  acme inc  0.5      5         1        yes$`, "m"));
    expect(out).toMatch(new RegExp(`^${id}  acme inc  0.5      5         1        no$`, "m"));
    expect(out).toMatch(/\nAt most 500 limiters are inspected, .* live "no" are as last reported\.\n$/);
    expect((await usage([false], ["--csv"])).out).toMatch(/,live\n.*,no\n$/);
  });

  it("says that the list can lack keys, also if all figures in it are live", async ({ expect }) => {
    expect((await usage([true], [], false)).out).toMatch(/\nAt most 500 limiters are inspected, .*\n$/);
  });

  it("says how many of the keys it shows if no page follows, also as CSV", async ({ expect }) => {
    const note = "1 of 3 keys are shown (--limit, at most 500).\n";
    expect((await usage([true], [], true, 3)).out.endsWith(note)).toBe(true);
    expect((await usage([true], ["--csv"], true, 3)).err).toBe(note);
    expect((await usage([true], ["--csv"], true, 1)).err).toBe("");
    expect((await usage([true], ["--csv"], true, 3, "n")).err).toBe("More: --after n\n");
    expect((await usage([true], ["--csv", "--after", "n"], true, 3)).err).toBe("");
    expect((await usage([true], ["--csv", "--by", "hour"], true, 3)).err).toBe("");
  });

  it("says that the sums by hour can lack some, also as CSV", async ({ expect }) => {
    const note = /^At most 500 limiters are inspected, .*: there can be more than these figures\.$/m;
    expect((await usage([true], ["--by", "hour"], false)).out).toMatch(note);
    expect((await usage([true], ["--by", "hour", "--csv"], false)).err).toMatch(note);
    expect((await usage([true], ["--by", "hour", "--csv"])).err).toBe("");
  });

  it("has bars if all figures are live, or an older service does not say it", async ({ expect }) => {
    for (const live of [true, undefined]) {
      expect((await usage([live])).out).toMatch(/refused\nkey_.*█\n\(not shown at this width: owner, .*\n$/);
      expect((await usage([live], ["--csv"])).out).toMatch(/,live\n.*,yes\n$/);
    }
  });
});

describe("the usage of a key", () => {
  it("says if it is as last reported", async ({ expect }) => {
    const figures = { admitted: 5, refused: 0, refusedWhileBanned: 0 };
    const usage = (live?: boolean) => JSON.stringify({ days: [{ day: "a", ...figures, live }], hours: [] });
    answer = usage(false);
    expect((await cli("keys", "usage", "key_a", "--days", "1")).out).toMatch(
      /^a █+ 5\nThe key's limiter cannot be reached: .*\n$/,
    );
    const csv = await cli("keys", "usage", "key_a", "--days", "1", "--csv");
    expect(csv.out).toMatch(/,live\na,5,0,0,no\n$/);
    expect(csv.err).toMatch(/^The key's limiter cannot be reached: /);
    answer = usage();
    expect((await cli("keys", "usage", "key_a", "--days", "1")).out).toMatch(/^a █+ 5\n$/);
  });
});

describe("the answer to a ban that was set", () => {
  const ban = { id: "ban_a", keyId: "key_a", cause: "operator", reason: "x", startedAt: "a", endsAt: "b" };
  const set = async (members: object) => {
    answer = JSON.stringify({ ban, effective: "within 60 seconds", ...members });
    return (await cli("bans", "set", "key_a", "--for", "1h", "--reason", "x")).out;
  };

  it("says if a ban may be left that the limiter has not reported", async ({ expect }) => {
    expect(await set({ replaced: [], replacedAll: false })).toMatch(
      /\nEffective within 60 seconds\.\nThe limiter could not be reached: .* that ban stays\./,
    );
    // An older service has neither member.
    for (const members of [{ replaced: [], replacedAll: true }, {}]) {
      expect(await set(members)).toMatch(/\nEffective within 60 seconds\.\n$/);
    }
  });
});

describe("a list of bans", () => {
  const list = (complete: boolean | undefined, ...args: string[]) => {
    answer = JSON.stringify({ bans: [], next: null, complete });
    return cli("bans", "list", ...args);
  };

  it("says if it can lack bans", async ({ expect }) => {
    expect((await list(false)).out).toMatch(/\nAt most 500 limiters are inspected, .* lack bans .*\n$/);
    const csv = await list(false, "--csv");
    expect(csv.out).toMatch(/^key,.*\n$/);
    expect(csv.err).toMatch(/^At most 500 limiters are inspected, /);
    // An older service answers without the member.
    for (const complete of [true, undefined]) {
      expect((await list(complete, "--csv")).err).toBe("");
    }
  });
});

describe("the answer to a lift", () => {
  const lifted = { id: "ban_a", keyId: "key_a", cause: "operator", reason: "x", startedAt: "a", endsAt: "b" };
  const lift = async (members: object) => {
    answer = JSON.stringify({ lifted, effective: "immediately", ...members });
    return (await cli("bans", "lift", "key_a")).out;
  };

  it("says if another ban may be live", async ({ expect }) => {
    expect(await lift({ liftedAll: false })).toMatch(
      /\nLifted, effective immediately\.\nAnother ban of the key may be live: .* Lift again later to end it\.\n$/,
    );
    // An older service answers without the member.
    for (const members of [{ liftedAll: true }, {}]) {
      expect(await lift(members)).toMatch(/\nLifted, effective immediately\.\n$/);
    }
  });

  it("does not say that there was no live ban if one was set meanwhile", async ({ expect }) => {
    for (const effective of ["immediately", "within 60 seconds"]) {
      expect(await lift({ lifted: null, liftedAll: false, effective })).toMatch(
        /^No ban was lifted: the key's bans changed meanwhile\.\nAnother ban of the key may be live: .* one that was set or began meanwhile/,
      );
    }
    expect(await lift({ lifted: null, liftedAll: true })).toBe("There was no live ban to lift.\n");
  });
});

describe("a list that does not end", () => {
  it("is an error when a page leads to itself", async ({ expect }) => {
    for (const [command, name, next] of [
      ["keys list", "keys", "a"],
      ["orders list", "orders", "1"],
      ["audit", "audit", 1],
    ] as const) {
      answer = JSON.stringify({ [name]: [], next });
      const { code, out, err } = await cli(...command.split(" "));
      expect([command, code, out, err, requests]).toEqual([command, 1, "", ERROR, 2]);
    }
  });

  it("is an error after more pages than a list can have", async ({ expect }) => {
    let pages = 0;
    const endless = pagesOf(async () => ({ next: pages++ }));
    const read = async () => {
      while (!(await endless.next()).done);
    };
    await expect(read()).rejects.toThrow("does not understand");
    expect(pages).toBe(100_000);
  });
});
