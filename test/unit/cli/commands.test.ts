/** Commands: the requests that they send, and what they print of the answers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { type Member, readReference } from "../../../src/cli/calls.ts";
import { BY_HAND, wayOf } from "../../../src/cli/commands.ts";
import { table } from "../../../src/cli/output.ts";
import { KEY_SORTS } from "../../../src/worker/db/values.ts";
import { PROJECT } from "../../support/cli.ts";
import { connectionError, refusal, run, runLine, sent, useFakeService } from "./fake-service.ts";

useFakeService();

const KEY = {
  id: "key_0NGqxR8a1b2c",
  name: "Paws",
  customer: { id: "cus_0NGqxR8a1b2c", name: "Ada", email: null },
  note: "first\nsecond",
  plan: "pro",
  status: "active",
  bannedUntil: null,
  limits: { requestsPerMinute: 600, requestsPerDay: 10_000 },
  requestsPerMinute: null,
  requestsPerDay: null,
  temporaryLimits: null,
  mayCancel: true,
  expiresAt: null,
  createdAt: "2026-11-01T00:00:00Z",
  location: null,
  firstUsedAt: null,
  lastUsedDay: "2026-11-20",
  admittedToday: 40,
  version: 1,
  secrets: [
    {
      ...{ id: "0123456789abcdef", hint: "sok_eg…yhjA", createdAt: "2026-11-01T00:00:00Z", expiresAt: null },
      lastUsedAt: "2026-11-20T08:05:00Z",
    },
  ],
};
const OTHER_ID = "key_1AAAAAAAAAAA";
const ID = KEY.id;
const IO = {
  env: {},
  stdin: process.stdin,
  isInteractive: true,
  columns: 80,
  stdout: process.stdout,
  stderr: process.stderr,
};
const CHANGED = { ...KEY, effective: "immediately", says: "The key is changed." };
const SECRET = `sok_${"a1".repeat(22)}b`;
const ORDER =
  '{"id":"9223372036854775807","petId":"9007199254740993","quantity":"2","shipDate":null,"complete":true,"status":"pending"}';
const FIGURES = { admitted: 40, refused: 2, refusedWhileBanned: 1 };
const RANGE = {
  from: "2026-11-20T00:00:00Z",
  to: "2026-11-20T11:00:00Z",
  completeFrom: "2026-11-20T00:00:00Z",
  asOf: "2026-11-20T10:00:00Z",
  unreachable: [],
  total: { keyCount: 1, ...FIGURES },
};
/** The command line, the request, its body, and what the answer has beside its sentence. */
const CHANGES: readonly [string, string, object | undefined, object?, string?][] = [
  [
    "keys create --name Paws --plan pro --customer Ada --expires-at 30d",
    "POST /admin/keys",
    { name: "Paws", plan: "pro", customer: "Ada", expiresAt: "30d" },
    { ...KEY, key: SECRET },
    `\n\nThe key, shown only now:\n\n  ${SECRET}`,
  ],
  [`keys update ${ID} --disabled true`, `PATCH /admin/keys/${ID}`, { disabled: true }],
  [`keys disable ${ID}`, "POST /admin/keys/disable", { ids: [ID] }],
  [`keys disable ${ID} ${OTHER_ID}`, "POST /admin/keys/disable", { ids: [ID, OTHER_ID] }],
  [`keys rotate ${ID} --grace 24h`, `POST /admin/keys/${ID}/rotate`, { graceSeconds: 86_400 }],
  [
    "orders update -5 --status pending --allow-backwards",
    "PATCH /admin/orders/-5",
    { status: "pending", allowBackwards: true },
  ],
];

/** The command line, the request, the answer, and what is printed. */
const READS: readonly [string, string, object | string, RegExp][] = [
  [
    `keys show ${ID}`,
    `GET /admin/keys/${ID}`,
    {
      ...KEY,
      whyRefused: ["The limit per minute was reached.", "A ban blocked 3 requests."],
      bannedUntil: "2026-11-20T14:10:00Z",
      requestsPerMinute: 600,
      temporaryLimits: { requestsPerMinute: null, requestsPerDay: 20_000, until: "2026-11-23T00:00:00Z" },
      live: {
        lastUsedAt: "2026-11-20T10:42:00Z",
        minute: { limit: 600, used: 3, remaining: 597, resetsAt: "2026-11-20T10:43:00Z" },
        day: { limit: 20_000, used: 40, remaining: 19_960, resetsAt: "2026-11-21T00:00:00Z" },
        strikes: 0,
        ban: null,
      },
    },
    new RegExp(
      [
        "customer name +Ada[^]*",
        "note +first",
        " +second[^]*",
        "temporary limits requests per day +20000[^]*",
        "secrets +id: 0123456789abcdef, hint: sok_eg…yhjA, .*[^]*",
        "why refused +The limit per minute was reached.",
        " +A ban blocked 3 requests.[^]*",
        "live day used +40",
      ].join("\n"),
    ),
  ],
  [
    "keys list --plan pro --status expired --expiring-within 30d --sort name",
    "GET /admin/keys?plan=pro&status=expired&expiringBefore=30d&sort=name&limit=100",
    { keys: [{ ...KEY, expiresAt: "2026-12-01T00:00:00Z" }], next: null },
    /^name +customer +status +plan +today +expires +id\nPaws +Ada +active +pro +40 +2026-12-01 00:00 +key_0NGqxR8a1b2c\n$/,
  ],
  [
    "usage --since 7d --sort percent",
    "GET /admin/usage?from=7d&sort=percent&limit=100",
    {
      ...RANGE,
      rows: [{ keyId: ID, keyName: "Paws", customer: KEY.customer, plan: "pro", percent: 0.4, ...FIGURES }],
      next: null,
    },
    /^2026-11-20 00:00 to 2026-11-20 11:00, counted until 2026-11-20 10:00\n40 admitted, 2 refused, 1 blocked by bans\n\nkey name .*\nPaws +Ada +pro +0\.4 +40 +2 +1 +key_0NGqxR8a1b2c\n$/,
  ],
];

describe("a command that changes something", () => {
  it.for(CHANGES)("%s", async ([line, request, body, answer, secret = ""], { expect }) => {
    const { code, out, err } = await runLine(line, { ...answer, says: "Paws is changed\u0007." });
    expect([code, err, out]).toEqual([0, "", `Paws is changed\\u0007.${secret}\n`]);
    expect(sent.map((each) => each.line)).toEqual([request]);
    expect(sent[0]?.body).toBe(body === undefined ? "" : JSON.stringify(body));
  });

  it("has the members of its call as options, which make the body", async ({ expect }) => {
    const calls = readReference().calls.filter(
      ({ id, body }) => body.length > 0 && !BY_HAND.includes(id) && !body.some(({ name }) => name === "ids"),
    );
    expect(calls.length).toBeGreaterThan(5);
    const IDS: Readonly<Record<string, string>> = { key: ID, customer: KEY.customer.id };
    for (const call of calls) {
      const { words, names } = wayOf(call);
      const requiredKeys = call.body.filter(({ isRequired }) => isRequired).map(({ name }) => name);
      const bodies = fc.record(Object.fromEntries(call.body.map((each) => [each.name, valuesOf(each)])), {
        requiredKeys,
      });
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const args = [...words.split(" "), ...names.map((name) => IDS[name] ?? "1")];
          const yes = call.asks === undefined ? [] : ["--yes"];
          const { code, err } = await run([...args, ...optionsOf(body), ...yes, "--json"], [CHANGED]);
          expect([code, err]).toEqual([0, ""]);
          const [request, ...others] = sent.splice(0);
          const path = call.line.replace(/\{\w+\}/, IDS[names[0] ?? ""] ?? "1");
          expect([request?.line, others]).toEqual([path.replace(" ", " /admin"), []]);
          expect(JSON.parse(request?.body ?? "")).toEqual(body);
        }),
        { numRuns: 5 },
      );
    }
  });

  it("sends the version that --if-version expects, and the name of the operator", async ({ expect }) => {
    const message = "It was changed meanwhile.";
    const answer = refusal(412, "changed_meanwhile", message);
    const { code, err } = await runLine(`keys update ${ID} --note n --if-version 7`, answer);
    expect([code, err]).toEqual([1, `error: ${message}\n`]);
    expect(sent[0]?.headers.get("If-Match")).toBe('"7"');
    expect(sent[0]?.headers.get("X-Operator")).toMatch(/^UTF-8''[\w.%-]+$/);
    await run(["keys", "disable", ID], [answer], { env: { STORE_ORDERS_OPERATOR: "Zoë " } });
    expect(sent[1]?.headers.get("X-Operator")).toBe("UTF-8''Zo%C3%AB");
  });
});

/** Values of a member, as the API takes them. */
function valuesOf({ type, choices, isNullable, byDefault }: Member): fc.Arbitrary<unknown> {
  const values = () => {
    if (byDefault === false) return fc.constant(true);
    if (type === "boolean") return fc.boolean();
    if (type === "integer") return fc.integer({ min: 1, max: 999_999 });
    if (type === "array") return fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1 });
    return choices.length > 0 ? fc.constantFrom(...choices) : fc.string().filter((text) => text !== "none");
  };
  return isNullable ? fc.option<unknown>(values()) : values();
}

function optionsOf(body: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(body).map(([name, value]) => {
    const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (name === "allowBackwards" || name === "together") return option;
    return `${option}=${value ?? "none"}${/seconds$/i.test(name) ? "s" : ""}`;
  });
}

describe("a command that reads something", () => {
  it.for(READS)("%s", async ([line, request, answer, printed], { expect }) => {
    const { code, out, err } = await runLine(line, answer);
    expect([code, err]).toEqual([0, ""]);
    expect(sent.map((each) => each.line)).toEqual([request]);
    expect(out).toMatch(printed);
  });

  it("shows no control or bidirectional characters of an answer", async ({ expect }) => {
    for (const line of [`keys show ${ID}`, "orders show 5"]) {
      const { out } = await runLine(line, { ...KEY, name: "a\u001b[2Jb\u202ec" });
      expect(out).toContain("a\\u001b[2Jb\\u202ec");
      expect(["\u001b", "\u202e"].filter((char) => out.includes(char))).toEqual([]);
    }
  });
});

describe("--json", () => {
  it("prints an object exactly as it came, with every digit", async ({ expect }) => {
    expect((await runLine("orders show 5 --json", ORDER)).out).toBe(`${ORDER}\n`);
  });

  it("prints a list of several pages as one, with every digit", async ({ expect }) => {
    const page = (next: string) => `{"orders":[${ORDER}],"next":${next}}`;
    const { out } = await runLine("--json orders list --limit 2", page('"5"'), page("null"));
    expect(out).toBe(`{"orders":[${ORDER},${ORDER}],"next":null}\n`);
  });
});

describe("--csv", () => {
  it("prints the service's CSV, which has all rows", async ({ expect }) => {
    const csv = new Response("\ufeffid,name\r\na,A\r\nb,B\r\n", {
      headers: { "Content-Type": "text/csv; charset=utf-8" },
    });
    const { out, err } = await run("keys list --plan pro --csv".split(" "), [csv]);
    expect([out, err]).toEqual(["id,name\r\na,A\r\nb,B\r\n", ""]);
    expect(sent.map(({ line }) => line)).toEqual(["GET /admin/keys?plan=pro&format=csv"]);
    expect(await runLine("keys list --limit 5 --csv")).toMatchObject({ code: 2 });
  });
});

describe("a table", () => {
  const LONG = { ...KEY, name: "backend-of-the-large-pet-shop", customer: "a rather long name, ".repeat(4) };
  const at = (columns: number, rows: readonly object[] = [LONG]) =>
    table(rows, ["name", "owner=customer", "plan", "status", "createdAt", "id"], { ...IO, columns });

  it("is one line a row without a width, whatever a text has in it", ({ expect }) => {
    const rows = Array.from({ length: 3 }, () => ({ ...LONG, customer: `${LONG.customer}\n\r\t\u2028` }));
    const lines = at(Number.POSITIVE_INFINITY, rows).split("\n");
    expect(lines).toHaveLength(1 + rows.length);
    expect(lines[1]).toMatch(/key_0NGqxR8a1b2c$/);
  });
});

describe("a list", () => {
  it("goes on until it has as many rows as asked for, and says that there are more", async ({ expect }) => {
    const page = (count: number, next: string | null) => ({
      keys: Array.from({ length: count }, () => KEY),
      next,
    });
    const { out, err } = await runLine("keys list --limit 502", page(500, "b"), page(0, "c"), page(2, "d"));
    expect(sent.map(({ line }) => line)).toEqual([
      "GET /admin/keys?limit=500",
      "GET /admin/keys?limit=2&after=b",
      "GET /admin/keys?limit=2&after=c",
    ]);
    expect(out.match(/key_0NGqxR8a1b2c/g)).toHaveLength(502);
    expect(err).toBe("More: --all, or another --limit\n");
  });

  it("has every row with --all", async ({ expect }) => {
    const page = (next: string | null) => ({ keys: Array.from({ length: 500 }, () => KEY), next });
    const { out, err } = await runLine("keys list --all", page("b"), page("c"), page(null));
    expect([out.match(/key_0NGqxR8a1b2c/g)?.length, err]).toEqual([1_500, ""]);
  });

  it("says that it is empty", async ({ expect }) => {
    expect((await runLine("keys list", { keys: [], next: null })).out).toBe("Nothing to show.\n");
  });
});

describe("orders load", () => {
  const figures = (inserted: number, unchanged = 0) => ({
    inserted,
    updated: 0,
    unchanged,
    cancelled: 0,
    kept: 0,
  });
  const lost = () => connectionError("ECONNRESET");
  const loadLines = (answers: readonly (object | Error)[], ...options: string[]) =>
    run(["orders", "load", "-", "--batch", "2", ...options], answers, {
      input: '{"id":1}\n{"id":2}\n{"id":3}\n',
    });
  beforeEach(() => {
    vi.stubGlobal("setTimeout", (resume: () => void) => queueMicrotask(resume)); // no test waits
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it("sends batches with every digit, and repeats one whose answer was lost", async ({ expect }) => {
    const input = '[{"id":9007199254740993,"petId":1}, {"id":2},\n{"id":3}]';
    const unavailable = refusal(503, "service_unavailable", "Please try again.");
    const answers = [lost(), unavailable, figures(0, 2), figures(1)];
    const { code, out, err } = await run(["orders", "load", "-", "--batch", "2"], answers, { input });
    const [first, second, third, fourth] = sent.map(({ line, body }) => ({ line, body: JSON.parse(body) }));
    expect(sent[0]?.body).toContain('{"id":"9007199254740993","petId":"1"}');
    const line = expect.stringMatching(/^PUT \/admin\/orders\?load=.{36}$/);
    expect(first).toMatchObject({ line, body: [{ petId: "1" }, { id: "2" }] });
    expect([second, third]).toEqual([first, first]);
    // The batches of a file are undone together.
    expect(fourth).toMatchObject({ line: first?.line, body: [{ id: "3" }] });
    expect(out).toMatch(/^read +3\ninserted +1\nupdated +0\nunchanged +2\n/);
    expect([code, err]).toEqual([0, expect.stringMatching(/^2 read, .*\n3 read, 1 inserted, .*\n$/)]);
  });

  it("gives up after four tries", async ({ expect }) => {
    const { code, err } = await loadLines(
      [figures(2), lost(), lost(), lost(), lost()],
      "--dry-run",
      "--allow-backwards",
    );
    expect([code, sent.length]).toEqual([1, 5]);
    expect(sent.at(-1)?.line).toMatch(/^PUT \/admin\/orders\?dry-run=&allow-backwards=&load=/);
    expect(err).toMatch(/^2 read, .*\nerror: .* broke\.\n$/);
  });

  it("repeats nothing that the service refuses", async ({ expect }) => {
    const { err } = await loadLines([refusal(400, "invalid_request", "No.")], "--restore-cancelled");
    expect([sent.length, err]).toEqual([1, "error: No.\n"]);
    expect(sent[0]?.line).toMatch(/^PUT \/admin\/orders\?restore-cancelled=&load=/);
  });
});

describe("orders ship", () => {
  const answer = { shipped: ["5"], unchanged: [], missing: [], says: "1 order shipped." };
  const bodies = () => sent.map(({ line, body }) => [line, JSON.parse(body).ids]);

  it("ships the orders that are named, and says which were not", async ({ expect }) => {
    const missing = ["-9223372036854775808"];
    const { code, out, err } = await runLine("orders ship 5 6 -9223372036854775808", { ...answer, missing });
    expect([code, out, err]).toEqual([1, "1 order shipped.\n", "error: Some ids are of no order.\n"]);
    expect(bodies()).toEqual([["POST /admin/orders/ship", ["5", "6", ...missing]]]);
  });

  it("sends nothing if there is no id", async ({ expect }) => {
    expect(await runLine("orders ship")).toMatchObject({ code: 2 });
    expect(sent).toEqual([]);
  });
});

describe("completion", () => {
  const completed = async (...line: string[]) => {
    const print = vi.spyOn(console, "log").mockImplementation(() => {});
    await run(line);
    const printed = print.mock.calls.map(([text]) => String(text));
    print.mockRestore();
    return printed;
  };

  it("has each command and each choice, one a line", async ({ expect }) => {
    const [sorts, words] = [
      await completed("complete", "--", "keys", "list", "--sort", ""),
      await completed("complete", "--", "keys", ""),
    ];
    expect(sorts.map((each) => each.trim())).toEqual([...KEY_SORTS, ":4"]);
    expect(words.map((each) => each.split("\t")[0])).toEqual(
      expect.arrayContaining(["list", "end-secret", ":4"]),
    );
    expect(words.join("")).not.toContain("\n");
  });

  it("makes a script that calls this checkout's command, wherever the shell stands", async ({ expect }) => {
    for (const shell of ["bash", "zsh", "fish", "powershell"])
      expect((await completed("completion", shell)).join("\n")).toContain(join(PROJECT, "store-orders"));
  });
});

describe("a dangerous command", () => {
  const plan = { id: "pro", requestsPerMinute: 1, requestsPerDay: null, keys: 3 };
  const ASKS: readonly [string, object | string, RegExp][] = [
    [
      `keys revoke ${ID}`,
      KEY,
      /^Paws .*\nRequests of the key are refused from now on, permanently\. Type yes to go on: /m,
    ],
    [
      `keys rotate ${ID}`,
      KEY,
      /^Requests with sok_eg…yhjA \(last used .* ago\) are a 401 from now on\.\nThe current secrets of the key stop working at once\./m,
    ],
    [
      `keys end-secret ${ID} 0123456789abcdef`,
      {
        ...KEY,
        secrets: [...KEY.secrets, { ...KEY.secrets[0], id: "1", expiresAt: "2999-01-01T00:00:00Z" }],
      },
      /^Requests with sok_eg…yhjA .* are.*\nNo secret without an end is left: .* from 1 Jan 2999, 00:00 UTC on\.\nThe secret stops/m,
    ],
    ["plans set pro --per-day 5", plan, /^pro +1 +3\nEach key of the plan that has no limits/m],
    ["orders delete 5", ORDER, /^9223372036854775807 .*\nThe store loses the order\./m],
  ];

  it.for(ASKS)(
    "%s asks on a terminal, and does nothing without a yes",
    async ([line, shown, question], { expect }) => {
      const answers = [shown, CHANGED];
      const declined = await run(line.split(" "), answers, { input: "y\n", isInteractive: true });
      expect(declined).toMatchObject({ code: 1, out: "", err: expect.stringMatching(question) });
      expect(declined.err).toMatch(/error: Nothing was changed\.\n$/);
      expect(sent).toHaveLength(1);
      const accepted = await run(line.split(" "), answers, { input: "yes\n", isInteractive: true });
      expect(accepted.code).toBe(0);
      expect(sent).toHaveLength(3);
    },
  );

  it("shows all keys of a customer, and changes those that it has shown", async ({ expect }) => {
    const found = {
      changed: [{ id: ID, name: "Paws", was: "active", effective: null }],
      unchanged: [{ id: OTHER_ID, name: "Claws", reason: "is revoked, which is permanent" }],
      says: "Then Paws is revoked.\nUnchanged: Claws is revoked, which is permanent.",
    };
    const line = "keys revoke --customer Zoo".split(" ");
    const declined = await run(line, [found], { input: "y\n", isInteractive: true });
    expect(declined.err).toMatch(/Then Paws is revoked\.\nUnchanged: Claws .*\nRequests of these keys .*: /);
    expect(sent.map((each) => each.line)).toEqual(["POST /admin/keys/revoke?dry-run=true"]);
    await run(line, [found, { changed: [], unchanged: [] }], { input: "yes\n", isInteractive: true });
    expect(sent.at(-1)).toMatchObject({
      line: "POST /admin/keys/revoke",
      body: JSON.stringify({ ids: [ID, OTHER_ID] }),
    });
  });

  it("changes nothing in a dry run, of one key too", async ({ expect }) => {
    const found = {
      changed: [{ id: ID, name: "Paws", was: "active", effective: null }],
      unchanged: [],
      says: "Then so.",
    };
    for (const line of [`keys revoke ${ID} --dry-run`, `keys disable ${ID} --dry-run`])
      expect(await run(line.split(" "), [found])).toMatchObject({
        code: 0,
        out: "Then so.\n",
      });
    expect(sent.map((each) => each.line.replace(/revoke|disable/, "x"))).toEqual(
      Array(2).fill("POST /admin/keys/x?dry-run=true"),
    );
  });

  it("needs --yes without a terminal", async ({ expect }) => {
    const { code, err } = await runLine(`keys revoke ${ID}`);
    expect([code, err]).toEqual([2, "error: This needs --yes, as there is no terminal on which to ask.\n"]);
    expect(sent).toEqual([]);
  });
});

describe("wrong usage", () => {
  it.for([
    ["keys list --limit 0", "Use a number from 1 on. (--help shows the usage)"],
    ["keys create --plan free", "Give --name."],
    ["keys create --name a --plan gold", "Allowed choices are free, pro, business, enterprise."],
    ["keys rotate Paws --grace 24", "Use a number and s, m, h or d, as in 24h."],
    ["keys update Paws --per-day many", "Use a whole number."],
    ["usage Paws --sort name", "usage <key> has no --sort."],
    ["usage Paws --limit 5", "usage <key> has no --limit."],
    ["order list", "unknown command 'order' (Did you mean orders?)"],
    ["keys show Paws --csv", "unknown option '--csv'"],
    ["keys --json", "Give a command: see --help."],
  ] as const)("%s is exit code 2: %s", async ([line, message], { expect }) => {
    const { code, out, err } = await runLine(line);
    expect([code, out]).toEqual([2, ""]);
    expect(err.replaceAll("\n", " ")).toContain(message);
    expect(sent).toEqual([]);
  });

  it("is exit code 2 also if nobody reads the message", async ({ expect }) => {
    const command = spawn(process.execPath, [join(PROJECT, "src/cli/main.ts"), "order"]);
    command.stderr.destroy();
    expect(await once(command, "close")).toEqual([2, null]);
  });

  it("repeats no key and no token, and sends none", async ({ expect }) => {
    for (const line of [
      SECRET,
      `keys show ${SECRET} --json`,
      `find ${SECRET}`,
      "keys list --plan an-admin-token-for-the-tests-only",
    ]) {
      const { code, err } = await runLine(line);
      expect(code).toBe(2);
      expect(err).not.toMatch(/a1a1|for-the-tests/);
    }
    expect(sent).toEqual([]);
  });
});

describe("help", () => {
  it("is on standard output, for the program and for each command", async ({ expect }) => {
    const program = await runLine("--help");
    expect(program).toMatchObject({ code: 0, err: "" });
    expect(program.out).toMatch(/ usage \[options\] \[key\] +Show the usage of a range\n/);
    for (const [, group = ""] of program.out.matchAll(/^ {2}(?!help)([a-z]+)/gm)) {
      const { code, out } = await runLine(`${group} --help`);
      expect([code, out]).toEqual([0, expect.stringContaining(`Usage: store-orders ${group}`)]);
      const [, commands = ""] = out.split("Commands:\n");
      const verbs = [...commands.matchAll(/^ {2}(?!help)([a-z-]+) /gm)].map(([, verb]) => verb);
      for (const line of verbs.length > 0 ? verbs.map((verb) => `${group} ${verb}`) : [group]) {
        expect((await runLine(`${line} --help`)).out).toContain(`\nExamples:\n  store-orders ${line}`);
      }
    }
  });

  it("--version is the package's", async ({ expect }) => {
    expect((await runLine("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("an error", () => {
  const refused = () => refusal(404, "not_found", "No key has this id.");

  it("is JSON with --json", async ({ expect }) => {
    const errorOf = async (line: string, ...answers: (Response | Error)[]) => {
      const { code, out, err } = await runLine(`${line} --json`, ...answers);
      return [code, out, JSON.parse(err).error.code];
    };
    expect(await errorOf(`keys show ${ID}`, refused())).toEqual([1, "", "not_found"]);
    expect(await errorOf("plans list", connectionError("ECONNREFUSED"))).toEqual([1, "", "unreachable"]);
    expect(await errorOf("keys list --limit 0")).toEqual([2, "", "usage"]);
    expect(await errorOf(`keys revoke ${ID}`)).toEqual([2, "", "usage"]);
  });

  it("names the options of the members that the service names", async ({ expect }) => {
    const problems = [
      { member: "from", reason: "must be a date" },
      { member: "actor", reason: "must not name from: or actor:" },
      { member: "status", reason: "must be new" },
    ];
    const invalid = { code: "invalid_request", message: "No.", status: 400 };
    const answer = Response.json({ ...invalid, problems }, { status: 400 });
    const { err } = await runLine("audit list --since x --actor y", answer);
    expect(err).toBe(
      "error: --since: must be a date; --actor: must not name from: or actor:; status: must be new\n",
    );

    const refused = [{ member: "graceSeconds", reason: "must be at most 60" }];
    const { err: inSeconds } = await runLine(
      `keys rotate ${ID} --grace 40d`,
      Response.json({ ...invalid, problems: refused }, { status: 400 }),
    );
    expect(inSeconds).toBe("error: --grace in seconds: must be at most 60\n");
  });

  it("ends a test alert that did not arrive", async ({ expect }) => {
    const { code, out, err } = await runLine("alerts test", { delivered: false, says: "status 500" });
    expect([code, out, err]).toEqual([
      1,
      expect.stringContaining("500"),
      "error: The alert did not arrive.\n",
    ]);
  });
});
