/** Each command: the request that it sends, and what it prints of the answer. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { connectionError, refusal, run, runLine, sent, useFakeService } from "./fake-service.ts";

useFakeService();

const KEY = {
  id: "key_1",
  name: "Paws",
  ownerName: "Ada",
  ownerEmail: null,
  note: "first\nsecond",
  plan: "pro",
  status: "active",
  limits: { requestsPerMinute: 600, requestsPerDay: 10_000 },
  requestsPerMinute: null,
  requestsPerDay: null,
  expiresAt: null,
  createdAt: "2026-11-01T00:00:00Z",
  location: null,
  firstUsedAt: null,
  lastUsedDay: "2026-11-20",
  version: 1,
  secrets: [
    { id: "0123456789abcdef", hint: "sok_eg…yhjA", createdAt: "2026-11-01T00:00:00Z", expiresAt: null },
  ],
};
const CHANGED = { ...KEY, effective: "immediately" };
const SECRET = `sok_${"a1".repeat(22)}b`;
const ORDER =
  '{"id":9223372036854775807,"petId":9007199254740993,"quantity":2,"shipDate":null,"complete":true,"status":"pending"}';
const FIGURES = { admitted: 40, refused: 2, refusedWhileBanned: 1 };

/** The command line, the request's line, its body, the answer, and what must be printed. */
const CHANGES: readonly [string, string, object | undefined, object | string, RegExp][] = [
  [
    "keys create --name Paws --plan pro --owner Ada --per-minute 600 --expires-at 2099-01-01 --location weur",
    "POST /admin/keys",
    {
      id: "key_000000000000",
      name: "Paws",
      plan: "pro",
      ownerName: "Ada",
      requestsPerMinute: 600,
      expiresAt: "2099-01-01",
      location: "weur",
    },
    { ...KEY, key: SECRET },
    /^id +key_1\n[\s\S]*\n\nThe key, shown only now:\n\n {2}sok_(a1){22}b\n$/,
  ],
  [
    "keys update key_1 --owner none --note none --per-day none --expires-at never --plan free",
    "PATCH /admin/keys/key_1",
    { plan: "free", ownerName: null, note: null, requestsPerDay: null, expiresAt: null },
    CHANGED,
    /^effective +immediately$/m,
  ],
  ["keys disable key_1", "PATCH /admin/keys/key_1", { disabled: true }, CHANGED, /^status /m],
  ["keys enable key_1", "PATCH /admin/keys/key_1", { disabled: false }, CHANGED, /^status /m],
  [
    "keys rotate key_1 --grace 24h",
    "POST /admin/keys/key_1/rotate",
    { graceSeconds: 86_400 },
    { ...CHANGED, key: SECRET },
    new RegExp(SECRET),
  ],
  [
    "keys rotate key_1 --grace 0 --yes",
    "POST /admin/keys/key_1/rotate",
    { graceSeconds: 0 },
    { ...CHANGED, key: SECRET },
    /now/,
  ],
  ["keys retire key_1 0123 --yes", "DELETE /admin/keys/key_1/secrets/0123", undefined, CHANGED, /^secrets$/m],
  ["keys revoke key_1 --yes", "DELETE /admin/keys/key_1", undefined, CHANGED, /^status /m],
  [
    "bans set key_1 --for 2d --reason flood",
    "PUT /admin/keys/key_1/ban",
    { seconds: 172_800, reason: "flood" },
    {
      ban: { id: "ban_1", endsAt: "2026-11-26T00:00:00Z" },
      replaced: [{ id: "ban_0" }],
      effective: "immediately",
    },
    /^ban\.id +ban_1\nban\.endsAt +2026-11-26T00:00:00Z\neffective +immediately\n\nreplaced\nid\nban_0\n$/,
  ],
  [
    "bans lift key_1",
    "DELETE /admin/keys/key_1/ban",
    undefined,
    { lifted: null, effective: "immediately" },
    /^There was no live ban to lift\.$/m,
  ],
  [
    "plans set pro --per-minute none --per-day 5 --yes",
    "PATCH /admin/plans/pro",
    { requestsPerMinute: null, requestsPerDay: 5 },
    { id: "pro", requestsPerMinute: null, requestsPerDay: 5, effective: "immediately" },
    /^id +pro\nrequestsPerMinute +–\nrequestsPerDay +5\neffective +immediately\n$/,
  ],
  ["orders ship 5", "PATCH /admin/orders/5", { status: "shipped" }, ORDER, /^id +9223372036854775807$/m],
  [
    "orders set-status -5 pending --allow-backwards",
    "PATCH /admin/orders/-5",
    { status: "pending", allowBackwards: true },
    ORDER,
    /^petId +9007199254740993$/m,
  ],
  ["orders delete 5 --yes", "DELETE /admin/orders/5", undefined, ORDER, /\n\nDeleted\.\n$/],
];

/** The command line, the request's line, the answer, and what must be printed. */
const READS: readonly [string, string, object | string, RegExp][] = [
  [
    "keys show key_1",
    "GET /admin/keys/key_1",
    { ...KEY, live: { minute: { used: 3, limit: 600 }, strikes: 1, ban: null } },
    /^note +first\n +second\n[\s\S]*^live\.minute\.used +3\nlive\.minute\.limit +600\nlive\.strikes +1\nlive\.ban +–\n\nsecrets\nid +hint/m,
  ],
  [
    "keys list --plan pro --status expired --search a --sort name --direction desc",
    "GET /admin/keys?plan=pro&status=expired&search=a&sort=name&direction=desc&limit=100",
    { keys: [KEY], next: null },
    /^name +owner +plan .* id\nPaws +Ada +pro +active +600 +10000 +– +2026-11-20 +key_1\n$/,
  ],
  ["keys find --hint yhjA", "POST /admin/keys/find", { keys: [] }, /^No key is found\.\n$/],
  [
    "keys history key_1",
    "GET /admin/keys/key_1/history?limit=100",
    {
      keyName: "Paws",
      events: [
        {
          kind: "ban",
          at: "2026-11-20T10:00:00Z",
          ban: { cause: "strikes", reason: null, endsAt: "2026-11-20T10:05:00Z", liftedAt: null },
        },
        {
          kind: "change",
          at: "2026-11-20T09:00:00Z",
          change: { call: "keys.update", actor: "ada", before: { note: null }, after: { note: "a" } },
        },
      ],
      next: null,
      hours: [
        {
          start: "2026-11-20T10:00:00Z",
          ...FIGURES,
          refusedMinutes: [
            { at: "2026-11-20T10:07:00Z", by: { minute: 1 } },
            { at: "2026-11-20T10:08:00Z", by: { minute: 1, ban: 1 } },
          ],
        },
      ],
    },
    /^keyName +Paws\n\nhours\nhour .* by\n2026-11-20T10:00:00Z +40 +2 +1 +minute: 2, ban: 1\n\nwhen .*\n2026-11-20T10:00:00Z +ban by strikes +– +until 2026-11-20T10:05:00Z\n2026-11-20T09:00:00Z +keys\.update +ada +note: – → a\n$/,
  ],
  [
    "keys usage key_1",
    "GET /admin/keys/key_1/usage?by=day&from=29d",
    {
      by: "day",
      rows: [
        { start: "2026-11-20", ...FIGURES },
        { start: "2026-11-21", admitted: 0, refused: 0, refusedWhileBanned: 0 },
      ],
    },
    /^day +admitted +refused +while banned\n2026-11-20 +40 +2 +1 +█{40}\n2026-11-21 +0 +0 +0\n$/,
  ],
  [
    "keys usage key_1 --hours 2",
    "GET /admin/keys/key_1/usage?by=hour&from=1h",
    { by: "hour", rows: [{ start: "2026-11-20T10:00:00Z", ...FIGURES }] },
    /^2026-11-20T10:00:00Z +40 /m,
  ],
  [
    "usage --from 2026-11-20 --sort percent",
    "GET /admin/usage?sort=percent&by=key&from=2026-11-20&limit=500",
    {
      from: "2026-11-20T00:00:00Z",
      to: "2026-11-20T11:00:00Z",
      by: "key",
      asOf: "2026-11-20T09:00:00Z",
      total: { keyCount: 1, ...FIGURES },
      rows: [
        {
          keyId: "key_1",
          keyName: "Paws",
          ownerName: "Ada",
          plan: "pro",
          limits: KEY.limits,
          percent: 0.4,
          ...FIGURES,
        },
      ],
      next: null,
    },
    /as of 2026-11-20T09:00:00Z: keys 1, admitted 40, refused 2, while banned 1\nname .*\nPaws +Ada +0\.4 +40 +2 +1 +pro +10000 +key_1\n$/,
  ],
  [
    "usage --by hour",
    "GET /admin/usage?sort=admitted&by=hour&limit=500",
    {
      by: "hour",
      total: { keyCount: 1, ...FIGURES },
      rows: [{ start: "2026-11-20T10:00:00Z", ...FIGURES }],
      next: null,
    },
    /\nhour .*\n2026-11-20T10:00:00Z +40 +2 +1\n$/,
  ],
  [
    "bans list --state live --key key_1",
    "GET /admin/bans?state=live&key=key_1&limit=100",
    {
      bans: [
        {
          id: "ban_1",
          keyId: "key_1",
          keyName: "Paws",
          cause: "operator",
          reason: "flood",
          strikes: 0,
          live: true,
        },
      ],
      next: null,
    },
    /^Paws +live +operator +0 .* key_1 +flood$/m,
  ],
  [
    "plans list",
    "GET /admin/plans",
    { plans: [{ id: "free", requestsPerMinute: 60, requestsPerDay: null, keys: 2 }] },
    /^plan +a minute +a day +keys\nfree +60 +– +2\n$/,
  ],
  ["orders show 5", "GET /admin/orders/5", ORDER, /^id +9223372036854775807\npetId +9007199254740993\n/],
  [
    "orders list --status pending --pet 7 --after -3",
    "GET /admin/orders?status=pending&petId=7&limit=100&after=-3",
    `{"orders":[${ORDER}],"next":null}`,
    /^9223372036854775807 +pending +9007199254740993 +2 +– +true$/m,
  ],
  [
    "orders cancelled --after 9",
    "GET /admin/orders/cancelled?limit=100&before=9",
    '{"cancelled":[{"id":9007199254740993,"petId":null,"quantity":1,"cancelledAt":"2026","cancelledBy":"key_1"}],"next":null}',
    /^9007199254740993 +– +1 +2026 +key_1$/m,
  ],
  [
    "audit --actor ada --call keys.update --object key_1 --from 2026-11-01 --to 2026-11-02",
    "GET /admin/audit?actor=ada&call=keys.update&object=key_1&from=2026-11-01&to=2026-11-02&limit=50",
    {
      audit: [
        {
          at: "2026",
          actor: "ada",
          call: "keys.update",
          object: "key_1",
          before: { plan: "free", note: null },
          after: { plan: "pro" },
        },
        {
          at: "2025",
          actor: "ada",
          call: "keys.create",
          object: "key_1",
          before: null,
          after: { plan: "free", note: null },
        },
      ],
      next: null,
    },
    /^2026 +ada +keys\.update +key_1 +plan: free → pro\n2025 +ada +keys\.create +key_1 +plan: free$/m,
  ],
];

describe("a command that changes something", () => {
  it.for(CHANGES)("%s", async ([line, request, body, answer, printed], { expect }) => {
    const { code, out, err } = await runLine(line, answer);
    expect([code, err]).toEqual([0, ""]);
    expect(sent.map((each) => each.line)).toEqual([request]);
    // `keys create` makes an id.
    const sentBody = sent[0]?.body.replace(/"key_\w{12}"/, '"key_000000000000"');
    expect(sentBody).toBe(body === undefined ? "" : JSON.stringify(body));
    expect(out).toMatch(printed);
  });

  it("sends the version that --if-version expects", async ({ expect }) => {
    const message = "It was changed meanwhile.";
    const { code, err } = await runLine(
      "keys disable key_1 --if-version 7",
      refusal(412, "changed_meanwhile", message),
    );
    expect([code, err]).toEqual([1, `error: ${message}\n`]);
    expect(sent[0]?.headers.get("If-Match")).toBe('"7"');
  });

  it("sends the name of the operator for the audit log", async ({ expect }) => {
    await runLine("keys enable key_1", CHANGED);
    expect(sent[0]?.headers.get("X-Operator")).toMatch(/^[\w.@ -]+$/);
  });
});

describe("a command that reads something", () => {
  it.for(READS)("%s", async ([line, request, answer, printed], { expect }) => {
    const { code, out, err } = await runLine(line, answer);
    expect([code, err]).toEqual([0, ""]);
    expect(sent.map((each) => each.line)).toEqual([request]);
    expect(out).toMatch(printed);
  });

  it("shows no control or bidirectional characters of an answer", async ({ expect }) => {
    const { out } = await runLine("keys show key_1", { name: "a\u001b[2Jb\u202ec" });
    expect(out).toBe("name  a\\u001b[2Jb\\u202ec\n");
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
  it("prints every column of a list under the names of the API, without spreadsheet formulas", async ({
    expect,
  }) => {
    const { out } = await runLine("keys list --csv", { keys: [{ ...KEY, name: "=1+1" }], next: null });
    const [head, row] = out.replaceAll('"', "").split("\r\n");
    expect(head).toBe(
      "name,ownerName,ownerEmail,plan,status,requestsPerMinute,requestsPerDay,expiresAt,createdAt,lastUsedDay,note,secrets,id",
    );
    expect(row).toMatch(/^'=1\+1,Ada,,pro,active,600,10000,,/);
  });

  it.for([
    ["usage --csv", "GET /admin/usage?sort=admitted&by=key&limit=500&format=csv"],
    ["keys usage key_1 --hours 2 --csv", "GET /admin/keys/key_1/usage?by=hour&from=1h&format=csv"],
  ] as const)("is the service's own for %s", async ([line, request], { expect }) => {
    const headers = {
      "Content-Type": "text/csv; charset=utf-8",
      Link: '</admin/usage?format=csv&after=a%3D>; rel="next"',
    };
    const finished = await runLine(line, new Response("day,keyId\r\n", { headers }));
    expect(finished).toEqual({ code: 0, out: "day,keyId\r\n", err: "More: --after a=\n" });
    expect(sent[0]?.line).toBe(request);
  });

  it("is refused for a command that prints no list, and beside --json", async ({ expect }) => {
    expect(await runLine("keys show key_1 --csv")).toMatchObject({ code: 2, out: "" });
    expect(await runLine("keys list --csv --json")).toMatchObject({ code: 2, out: "" });
    expect(sent).toEqual([]);
  });
});

describe("a list", () => {
  it("goes on until it has as many rows as asked for, and names the next page", async ({ expect }) => {
    const page = (count: number, next: string | null) => ({
      keys: Array.from({ length: count }, () => KEY),
      next,
    });
    const { out, err } = await runLine(
      "keys list --limit 502 --after a",
      page(500, "b"),
      page(0, "c"),
      page(2, "d"),
    );
    expect(sent.map(({ line }) => line)).toEqual([
      "GET /admin/keys?limit=500&after=a",
      "GET /admin/keys?limit=2&after=b",
      "GET /admin/keys?limit=2&after=c",
    ]);
    expect(out.match(/key_1/g)).toHaveLength(502);
    expect(err).toBe("More: --after d\n");
  });

  it("says that it is empty", async ({ expect }) => {
    expect((await runLine("keys list", { keys: [], next: null })).out).toBe("Nothing to show.\n");
  });
});

describe("orders export", () => {
  it("prints all orders as lines, and how many on standard error", async ({ expect }) => {
    const order = ORDER.replace("}", ',"version":7}');
    const answers = [`{"orders":[${order}],"next":"5"}`, `{"orders":[${order}],"next":null}`];
    const { code, out, err } = await run(["orders", "export"], answers);
    expect([code, out, err]).toEqual([0, `${ORDER}\n${ORDER}\n`, "2 orders\n"]);
    expect(sent.map(({ line }) => line)).toEqual([
      "GET /admin/orders?limit=500",
      "GET /admin/orders?limit=500&after=5",
    ]);
  });
});

describe("orders load", () => {
  const figures = (inserted: number, unchanged = 0) => ({ inserted, updated: 0, unchanged, cancelled: 0 });
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
    expect(sent[0]?.body).toContain('{"id":9007199254740993,"petId":1,');
    expect(first).toMatchObject({ line: "PUT /admin/orders", body: [{ petId: 1 }, { id: 2 }] });
    expect([second, third]).toEqual([first, first]);
    expect(fourth).toMatchObject({ line: "PUT /admin/orders", body: [{ id: 3 }] });
    expect(out).toMatch(/^read +3\ninserted +1\nupdated +0\nunchanged +2\n/);
    expect([code, err]).toEqual([0, expect.stringMatching(/^2 read, .*\n3 read, 1 inserted, .*\n$/)]);
  });

  it("gives up after four tries, and says what was loaded", async ({ expect }) => {
    const { code, err } = await loadLines([figures(2), lost(), lost(), lost(), lost()]);
    expect([code, sent.length]).toEqual([1, 5]);
    expect(err).toMatch(/ broke\. 2 lines were loaded before: load the whole file again\.\n$/);
    const dryRun = await loadLines([figures(2), lost(), lost(), lost(), lost()], "--dry-run");
    expect(sent.at(-1)?.line).toBe("PUT /admin/orders?dry-run=");
    expect(dryRun.err).toMatch(/ broke\.\n$/);
  });

  it("repeats nothing that the service refuses", async ({ expect }) => {
    const { err } = await loadLines([refusal(400, "invalid_request", "No.")], "--restore-cancelled");
    expect([sent.length, err]).toEqual([1, "error: No.\n"]);
    expect(sent[0]?.line).toBe("PUT /admin/orders?restore-cancelled=");
  });
});

describe("keys find", () => {
  it("sends only the hash of the secret on standard input", async ({ expect }) => {
    const input = `Authorization: Bearer ${SECRET}\n`;
    const { code, out } = await run(["keys", "find"], [{ keys: [KEY] }], { input });
    expect([code, out]).toEqual([0, expect.stringContaining("key_1")]);
    expect(sent[0]?.body).toBe(JSON.stringify({ hash: createHash("sha256").update(SECRET).digest("hex") }));
  });

  it("refuses an input without a secret", async ({ expect }) => {
    expect(await run(["keys", "find"], [], { input: "mistyped\n" })).toMatchObject({ code: 2, out: "" });
    expect(sent).toEqual([]);
  });
});

describe("a dangerous command", () => {
  const ASKS: readonly [string, object | string, RegExp][] = [
    [
      "keys revoke key_1",
      KEY,
      /^Key key_1 \(Paws, plan pro, last used 2026-11-20\): .* permanently\. Type yes to go on: /,
    ],
    ["keys rotate key_1 --grace 0", KEY, /its current secrets stop working at once/],
    ["keys retire key_1 0123", KEY, /its secret 0123 stops working at once/],
    [
      "plans set pro --per-day 5",
      { plans: [{ id: "pro", requestsPerMinute: 1, requestsPerDay: null, keys: 3 }] },
      /^Plan pro, which 3 keys have: none → 5 a day\. /,
    ],
    ["orders delete 5", ORDER, /^This deletes the order:\nid +9223372036854775807\n/],
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

  it.for(ASKS)("%s needs --yes without a terminal", async ([line], { expect }) => {
    const { code, err } = await runLine(line);
    expect([code, err]).toEqual([2, "error: This needs --yes, as there is no terminal on which to ask.\n"]);
    expect(sent).toEqual([]);
  });
});

describe("wrong usage", () => {
  it.for([
    ["keys list --limit 0", "Use a number from 1 on. (see store-orders keys list --help)"],
    [
      "keys create --plan free",
      "required option '--name <name>' not specified (see store-orders keys create --help)",
    ],
    ["keys create --name a --plan gold", "Allowed choices are free, pro, business, enterprise."],
    ["keys rotate key_1 --grace 24", "Use a number and s, m, h or d, as in 24h."],
    ["keys show a/b", "Use an id as the lists show it."],
    ["keys update key_1", "Nothing to change: give an option (--help)."],
    ["keys update key_1 --per-day many", "Use a whole number."],
    ["keys usage key_1 --days 1 --hours 1", "cannot be used with"],
    ["orders list --pet 9223372036854775808", "Use a whole number of 64 bits."],
    ["orders load - --batch 5001", "Use a number up to 5000."],
    ["order list", "unknown command 'order' (Did you mean orders?) (see store-orders --help)"],
    ["bans lift key_1 --all", "unknown option '--all'"],
  ] as const)("%s is exit code 2: %s", async ([line, message], { expect }) => {
    const { code, out, err } = await runLine(line);
    expect([code, out]).toEqual([2, ""]);
    expect(err.replaceAll("\n", " ")).toContain(message);
    expect(sent).toEqual([]);
  });

  it("repeats no key and no token", async ({ expect }) => {
    for (const line of [
      SECRET,
      `keys list --plan ${SECRET}`,
      "keys list --plan an-admin-token-for-the-tests-only",
    ]) {
      const { code, err } = await runLine(line);
      expect(code).toBe(2);
      expect(err).not.toMatch(/a1a1|for-the-tests/);
    }
  });
});

describe("help", () => {
  it("is on standard output, for the program and for each command", async ({ expect }) => {
    const program = await runLine("--help");
    expect(program).toMatchObject({ code: 0, err: "" });
    for (const [, group = ""] of program.out.matchAll(/^ {2}(keys|bans|plans|orders|usage|audit|smoke)/gm)) {
      const { code, out } = await runLine(`${group} --help`);
      expect(code).toBe(0);
      expect(out).toContain(`Usage: store-orders ${group}`);
    }
  });

  it("--version is the package's", async ({ expect }) => {
    expect((await runLine("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

it("a refusal of the service is exit code 1 and its message", async ({ expect }) => {
  const finished = await runLine("keys show key_9", refusal(404, "not_found", "No key has this id."));
  expect(finished).toEqual({ code: 1, out: "", err: "error: No key has this id.\n" });
});
