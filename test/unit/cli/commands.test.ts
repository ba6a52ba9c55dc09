/** Each command: the request that it sends, and what it prints of the answer. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { connectionError, refusal, run, runLine, sent, useFakeService } from "./fake-service.ts";

useFakeService();
beforeEach(() => {
  vi.spyOn(Date, "now").mockReturnValue(Date.UTC(2026, 10, 20));
});
afterEach(() => {
  vi.restoreAllMocks();
});

const KEY = {
  id: "key_0NGqxR8a1b2c",
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
  admittedToday: 40,
  version: 1,
  secrets: [
    { id: "0123456789abcdef", hint: "sok_eg…yhjA", createdAt: "2026-11-01T00:00:00Z", expiresAt: null },
  ],
};
const ID = KEY.id;
const CHANGED = { ...KEY, effective: "immediately" };
const SECRET = `sok_${"a1".repeat(22)}b`;
const ORDER =
  '{"id":9223372036854775807,"petId":9007199254740993,"quantity":2,"shipDate":null,"complete":true,"status":"pending"}';
const FIGURES = { admitted: 40, refused: 2, refusedWhileBanned: 1 };
const RANGE = {
  from: "2026-11-20T00:00:00Z",
  to: "2026-11-20T11:00:00Z",
  asOf: "2026-11-20T10:00:00Z",
  total: { keyCount: 1, ...FIGURES },
};
const HISTORY = {
  keyName: "Paws",
  asOf: "2026-11-20T11:00:00Z",
  events: [
    {
      kind: "ban",
      at: "2026-11-20T10:42:00Z",
      ban: { cause: "strikes", reason: null, liftedAt: "2026-11-20T10:50:00Z", liftedBy: "ada" },
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
        { at: "2026-11-20T10:42:00Z", by: { minute: 12, ban: 3 } },
      ],
    },
  ],
};

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
    /^id +key_0NGqxR8a1b2c\n[\s\S]*\n\nThe key, shown only now:\n\n {2}sok_(a1){22}b\n$/,
  ],
  [
    "keys update key_0NGqxR8a1b2c --owner none --note none --per-day none --expires-at none --plan free",
    "PATCH /admin/keys/key_0NGqxR8a1b2c",
    { ownerName: null, note: null, requestsPerDay: null, expiresAt: null, plan: "free" },
    CHANGED,
    /^effective +immediately$/m,
  ],
  [
    "keys disable key_0NGqxR8a1b2c",
    "PATCH /admin/keys/key_0NGqxR8a1b2c",
    { disabled: true },
    CHANGED,
    /^status /m,
  ],
  [
    "keys enable key_0NGqxR8a1b2c",
    "PATCH /admin/keys/key_0NGqxR8a1b2c",
    { disabled: false },
    CHANGED,
    /^status /m,
  ],
  [
    "keys rotate key_0NGqxR8a1b2c --grace 24h",
    "POST /admin/keys/key_0NGqxR8a1b2c/rotate",
    { graceSeconds: 86_400 },
    { ...CHANGED, key: SECRET },
    new RegExp(SECRET),
  ],
  [
    "keys rotate key_0NGqxR8a1b2c --grace 0 --yes",
    "POST /admin/keys/key_0NGqxR8a1b2c/rotate",
    { graceSeconds: 0 },
    { ...CHANGED, key: SECRET },
    /now/,
  ],
  [
    "keys retire key_0NGqxR8a1b2c 0123 --yes",
    "DELETE /admin/keys/key_0NGqxR8a1b2c/secrets/0123",
    undefined,
    CHANGED,
    /^secrets +id: 0123456789abcdef, hint: /m,
  ],
  [
    "keys revoke key_0NGqxR8a1b2c --yes",
    "DELETE /admin/keys/key_0NGqxR8a1b2c",
    undefined,
    CHANGED,
    /^status /m,
  ],
  [
    "bans set key_0NGqxR8a1b2c --for 2d --reason flood",
    "PUT /admin/keys/key_0NGqxR8a1b2c/ban",
    { seconds: 172_800, reason: "flood" },
    {
      ban: { id: "ban_1", endsAt: "2026-11-26T00:00:00Z" },
      replaced: [{ id: "ban_0" }],
      effective: "immediately",
    },
    /^ban\.id +ban_1\nban\.endsAt +2026-11-26T00:00:00Z\nreplaced +id: ban_0\neffective +immediately\n$/,
  ],
  [
    `keys limit ${ID} --per-minute 1000 --per-day 5 --days 3 --reason launch`,
    `POST /admin/keys/${ID}/temporary-limits`,
    { requestsPerMinute: 1_000, requestsPerDay: 5, days: 3, reason: "launch" },
    { ...CHANGED, temporaryLimits: { until: "2026-11-23T00:00:00Z" } },
    /^effective +immediately\n[\s\S]*\n\nThe limits hold until 2026-11-23 00:00 UTC\.\n$/m,
  ],
  [`keys limit ${ID} --end`, `DELETE /admin/keys/${ID}/temporary-limits`, undefined, CHANGED, /^effective /m],
  [`keys tell ${ID}`, `POST /admin/keys/${ID}/tell`, undefined, { untold: 0 }, /^untold +0$/m],
  ["keys tell --all", "POST /admin/keys/tell", undefined, { untold: 19_500 }, /^untold +19500$/m],
  [
    `keys update ${ID} --expires-at 30d`,
    `PATCH /admin/keys/${ID}`,
    { expiresAt: "2026-12-20T00:00:00.000Z" },
    CHANGED,
    /^effective /m,
  ],
  [
    "alerts test",
    "POST /admin/alerts/test",
    undefined,
    { delivered: true, status: 200, error: null },
    /^delivered +true$/m,
  ],
  [
    "bans lift key_0NGqxR8a1b2c",
    "DELETE /admin/keys/key_0NGqxR8a1b2c/ban",
    undefined,
    { lifted: null, effective: "immediately" },
    /^lifted +–$/m,
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
  ["orders delete 5 --yes", "DELETE /admin/orders/5", undefined, ORDER, /^status +pending$/m],
];

/** The command line, the request's line, the answer, and what must be printed. */
const READS: readonly [string, string, object | string, RegExp][] = [
  [
    "keys show key_0NGqxR8a1b2c",
    "GET /admin/keys/key_0NGqxR8a1b2c",
    { ...KEY, live: { minute: { used: 3, limit: 600 }, strikes: 1, ban: null } },
    /^note +first\n +second\n[\s\S]*^live\.minute\.used +3\nlive\.minute\.limit +600\nlive\.strikes +1\nlive\.ban +–$/m,
  ],
  [
    "keys list --plan pro --status expired --search a --expiring-within 30d --sort name --direction desc",
    "GET /admin/keys?plan=pro&status=expired&search=a&expiringBefore=30d&sort=name&direction=desc&limit=100",
    { keys: [{ ...KEY, expiresAt: "2026-12-01T00:00:00Z" }], next: null },
    /^name +owner +admitted today +plan +status +expires at +id\nPaws +Ada +40 +pro +active +2026-12-01 00:00 +key_0NGqxR8a\n$/,
  ],
  [
    `keys history ${ID}`,
    `GET /admin/keys/${ID}/history?limit=100`,
    HISTORY,
    /^Refusals of Paws, as of 2026-11-20 11:00\nat +refused by\n2026-11-20 10:07 +minute: 1\n2026-11-20 10:42 +minute: 12, ban: 3\n\nat .*\n2026-11-20 10:42 +ban by strikes +– +lifted 2026-11-20 10:50 by ada\n2026-11-20 09:00 +keys\.update +ada +note: – → a\n$/,
  ],
  [
    `keys history ${ID} --at 10:42 --limit 5`,
    `GET /admin/keys/${ID}/history?limit=5`,
    HISTORY,
    /^Refusals .*\nat +refused by\n2026-11-20 10:42 .*\n\n/,
  ],
  [
    "usage --since 7d --owner Ada --sort percent",
    "GET /admin/usage?from=7d&owner=Ada&sort=percent&by=key&limit=100",
    {
      ...RANGE,
      rows: [{ keyId: ID, keyName: "Paws", ownerName: "Ada", plan: "pro", percent: 0.4, ...FIGURES }],
      next: null,
    },
    /^2026-11-20 00:00 to 2026-11-20 11:00, as of 2026-11-20 10:00\nkeyCount: 1, admitted: 40, .*\n\nkey name .*\nPaws +Ada +0\.4 +40 +2 +1 +pro +key_0NGqxR8a\n$/,
  ],
  [
    "usage --from 2026-11-01 --to 2026-11-02 --by owner --plan pro",
    "GET /admin/usage?from=2026-11-01&to=2026-11-02&by=owner&plan=pro&limit=100",
    { ...RANGE, rows: [{ owner: null, keyCount: 2, ...FIGURES }], next: null },
    /^admitted +refused +banned +key count\n +40 +2 +1 +2$/m,
  ],
  [
    `usage ${ID} --since 30d --by day`,
    `GET /admin/keys/${ID}/usage?from=30d&by=day`,
    { keyId: ID, ...RANGE, rows: [{ start: "2026-11-20", ...FIGURES }] },
    /^2026-11-20 +40 +2 +1$/m,
  ],
  [
    "customers --days 7 --sort peak",
    "GET /admin/customers?days=7&sort=peak&limit=100",
    {
      customers: [
        {
          ...{ owner: "Ada", ownerEmail: null, plans: ["pro", "free"], keyCount: 2, ...FIGURES },
          ...{
            medianPercent: 12.5,
            peakPercent: 99,
            peakDay: "2026-11-19",
            daysNear: 3,
            daysRefused: 1,
            bans: 0,
          },
        },
      ],
      next: null,
    },
    /^Ada +3 +12\.5 +99 +2026-11-19 +40 +2 +pro; free$/m,
  ],
  [
    "alerts list --state failed",
    "GET /admin/alerts?state=failed&limit=100",
    {
      alerts: [
        {
          at: "2026-11-20T10:00:00Z",
          text: "A ban began.",
          type: "ban.started",
          state: "failed",
          attempts: 3,
        },
      ],
      next: null,
      configured: true,
    },
    /^2026-11-20 10:00 +A ban began\. +ban\.started +failed +3$/m,
  ],
  [
    "bans list --state live --key key_0NGqxR8a1b2c",
    "GET /admin/bans?state=live&key=key_0NGqxR8a1b2c&limit=100",
    {
      bans: [
        {
          id: "ban_1",
          keyId: "key_0NGqxR8a1b2c",
          keyName: "Paws",
          cause: "operator",
          reason: "flood",
          strikes: 0,
          startedAt: "2026-11-20T10:00:00Z",
          liftedBy: "ada",
          live: true,
        },
      ],
      next: null,
    },
    /^Paws +live +operator +0 +2026-11-20 10:00 +ada +flood$/m,
  ],
  [
    "plans list",
    "GET /admin/plans",
    { plans: [{ id: "free", requestsPerMinute: 60, requestsPerDay: null, keys: 2 }] },
    /^id +requests per minute +keys\nfree +60 +2\n$/,
  ],
  ["orders show 5", "GET /admin/orders/5", ORDER, /^id +9223372036854775807\npetId +9007199254740993\n/],
  [
    "orders list --status pending --pet 7 --after -3",
    "GET /admin/orders?status=pending&petId=7&limit=100&after=-3",
    `{"orders":[${ORDER}],"next":null}`,
    /^9223372036854775807 +pending +9007199254740993 +2 +true$/m,
  ],
  [
    "orders cancelled --after 9",
    "GET /admin/orders/cancelled?limit=100&before=9",
    '{"cancelled":[{"id":9007199254740993,"petId":null,"quantity":1,"cancelledAt":"2026","cancelledBy":"key_0NGqxR8a1b2c"}],"next":null}',
    /^9007199254740993 +1 +2026 +key_0NGqxR8a$/m,
  ],
  [
    "audit list --actor ada --call keys.update --object pro --since 1d --to 2026-11-02",
    "GET /admin/audit?actor=ada&call=keys.update&from=1d&to=2026-11-02&object=pro&limit=100",
    {
      audit: [
        {
          at: "2026",
          actor: "ada",
          call: "keys.update",
          object: "key_0NGqxR8a1b2c",
          before: { plan: "free", note: null },
          after: { plan: "pro" },
        },
        {
          at: "2025",
          actor: "ada",
          call: "keys.create",
          object: "key_0NGqxR8a1b2c",
          before: null,
          after: { plan: "free", note: null },
        },
      ],
      next: null,
    },
    /^2026 +ada +keys\.update +key_0NGqxR8a +plan: free → pro\n2025 +ada +keys\.create +key_0NGqxR8a +plan: free$/m,
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
      "keys disable key_0NGqxR8a1b2c --if-version 7",
      refusal(412, "changed_meanwhile", message),
    );
    expect([code, err]).toEqual([1, `error: ${message}\n`]);
    expect(sent[0]?.headers.get("If-Match")).toBe('"7"');
  });

  it("sends the name of the operator for the audit log", async ({ expect }) => {
    await runLine("keys enable key_0NGqxR8a1b2c", CHANGED);
    expect(sent[0]?.headers.get("X-Operator")).toMatch(/^UTF-8''[\w.%-]+$/);
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
    const { out } = await runLine("keys show key_0NGqxR8a1b2c", { name: "a\u001b[2Jb\u202ec" });
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
  it("prints every member of a list under its name of the API, without spreadsheet formulas", async ({
    expect,
  }) => {
    const { out } = await runLine("keys list --csv", { keys: [{ ...KEY, name: "=1+1" }], next: null });
    const [head, row] = out.split("\r\n");
    expect(head).toMatch(/^id,name,ownerName,.*,limits\.requestsPerMinute,limits\.requestsPerDay,/);
    expect(row).toMatch(/^key_0NGqxR8a1b2c,'=1\+1,Ada,,"first\nsecond",pro,active,600,10000,/);
  });

  it("keeps a change of the audit log in one cell", async ({ expect }) => {
    const entry = { at: "2026", before: { plan: "free" }, after: null };
    const { out } = await runLine("audit list --csv", { audit: [entry], next: null });
    expect(out).toBe('at,before,after\r\n2026,"{""plan"":""free""}",\r\n');
  });
});

describe("a key is named", () => {
  const found = (...keys: object[]) => ({ keys, next: null });

  it("by the beginning of its id, its name, or the end of its secret", async ({ expect }) => {
    for (const ref of ["key_0NGqxR8a", "Paws%2FA", "yhjA"]) {
      const { code } = await runLine(`keys show ${decodeURIComponent(ref)}`, found(KEY), KEY);
      expect(code).toBe(0);
      expect(sent.splice(0).map(({ line }) => line)).toEqual([
        `GET /admin/keys?ref=${ref}&limit=10`,
        `GET /admin/keys/${ID}`,
      ]);
    }
  });

  it.for([
    ["bans list --key Paws", `GET /admin/bans?state=all&key=${ID}&limit=100`, { bans: [] }],
    ["usage --key Paws --by hour", `GET /admin/usage?key=${ID}&by=hour&limit=100`, { ...RANGE, rows: [] }],
    ["audit list --object Paws", `GET /admin/audit?object=${ID}&limit=100`, { audit: [] }],
    ["usage Paws", `GET /admin/keys/${ID}/usage?by=hour`, { ...RANGE, rows: [] }],
  ] as const)("also as in %s", async ([line, request, answer], { expect }) => {
    expect((await runLine(line, found(KEY), answer)).code).toBe(0);
    expect(sent.at(-1)?.line).toBe(request);
  });

  it("and nothing is done if several keys fit, or none", async ({ expect }) => {
    const several = await runLine("keys revoke Paws --yes", found(KEY, { ...KEY, id: "key_0NGqxR8a1b2d" }));
    expect([several.code, several.out]).toEqual([1, ""]);
    expect(several.err).toMatch(
      /^error: Several keys fit Paws:\n {2}key_0NGqxR8a1b2c {2}Paws .*\n {2}key_0NGqxR8a1b2d /,
    );
    expect(await runLine("keys revoke Paws --yes", found())).toMatchObject({ code: 1, out: "" });
    expect(sent.map(({ line }) => line)).toEqual(Array(2).fill("GET /admin/keys?ref=Paws&limit=10"));
  });
});

describe("a table", () => {
  it("fits 80 columns: texts wrap at blanks, and an id stays whole", async ({ expect }) => {
    const key = { ...KEY, name: "a rather long name of a key, ".repeat(4), ownerName: "x".repeat(60) };
    const { out } = await runLine("keys list", { keys: [key], next: null });
    const lines = out.split("\n");
    expect(Math.max(...lines.map((each) => each.length))).toBeLessThanOrEqual(80);
    expect(lines.length).toBeGreaterThan(3);
    expect(out).toMatch(/ key_0NGqxR8a$/m);
  });

  it("wraps a long last column before it cuts the others", async ({ expect }) => {
    const entry = {
      ...{ at: "2026-11-20T10:00:00Z", actor: "operator", call: "keys.create", object: ID },
      ...{ before: null, after: { note: "a word ".repeat(30) } },
    };
    const { out } = await runLine("audit list", { audit: [entry], next: null });
    expect(Math.max(...out.split("\n").map((each) => each.length))).toBeLessThanOrEqual(80);
    expect(out).toMatch(/^2026-11-20 10:00 +operator +keys\.create +key_0NGqxR8a +note: a word/m);
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
    expect(out.match(/key_0NGqxR8a/g)).toHaveLength(502);
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

  it("gives up after four tries", async ({ expect }) => {
    const { code, err } = await loadLines([figures(2), lost(), lost(), lost(), lost()], "--dry-run");
    expect([code, sent.length]).toEqual([1, 5]);
    expect(sent.at(-1)?.line).toBe("PUT /admin/orders?dry-run=");
    expect(err).toMatch(/^2 read, .*\nerror: .* broke\.\n$/);
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
    expect([code, out]).toEqual([0, expect.stringContaining("key_0NGqxR8a1b2c")]);
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
      "keys revoke key_0NGqxR8a1b2c",
      KEY,
      /^Key key_0NGqxR8a1b2c \(Paws, plan pro, last used 2026-11-20\): .* permanently\. Type yes to go on: /,
    ],
    ["keys rotate key_0NGqxR8a1b2c --grace 0", KEY, /its current secrets stop working at once/],
    ["keys retire key_0NGqxR8a1b2c 0123", KEY, /its secret 0123 stops working at once/],
    [
      "plans set pro --per-day 5",
      { plans: [{ id: "pro", requestsPerMinute: 1, requestsPerDay: null, keys: 3 }] },
      /^Plan pro, which 3 keys have, has requestsPerMinute: 1, requestsPerDay: –\. It gets requestsPerDay: 5\. /,
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
    ["keys list --limit 0", "Use a number from 1 on. (--help shows the usage)"],
    ["keys create --plan free", "required option '--name <name>' not specified"],
    ["keys create --name a --plan gold", "Allowed choices are free, pro, business, enterprise."],
    ["keys rotate Paws --grace 24", "Use a number and s, m, h or d, as in 24h."],
    ["keys update Paws --per-day many", "Use a whole number."],
    ["keys limit Paws --per-day 5", "Give --days or --end."],
    ["keys limit Paws --per-day 5 --days 0", "Use a number from 1 on."],
    ["keys tell", "Give a key or --all."],
    ["keys tell Paws --all", "Give a key or --all."],
    ["usage Paws --by owner", "The usage of one key has"],
    ["usage Paws --sort name", "The usage of one key has"],
    ["orders list --pet 9223372036854775808", "Use a whole number of 64 bits."],
    ["orders load - --batch 0", "Use a number from 1 on."],
    ["order list", "unknown command 'order' (Did you mean orders?)"],
    ["bans lift Paws --all", "unknown option '--all'"],
    ["keys show Paws --csv", "unknown option '--csv'"],
    ["tail --status 42", "Use a status, as in 429 or 5xx."],
  ] as const)("%s is exit code 2: %s", async ([line, message], { expect }) => {
    const { code, out, err } = await runLine(line);
    expect([code, out]).toEqual([2, ""]);
    expect(err.replaceAll("\n", " ")).toContain(message);
    expect(sent).toEqual([]);
  });

  it("repeats no key and no token, and sends none", async ({ expect }) => {
    for (const line of [
      SECRET,
      `keys show ${SECRET} --json`,
      `keys find ${SECRET}`,
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
    for (const [, group = ""] of program.out.matchAll(/^ {2}(?!help)([a-z]+)/gm)) {
      const { code, out } = await runLine(`${group} --help`);
      expect(code).toBe(0);
      expect(out).toContain(`Usage: store-orders ${group}`);
    }
  });

  it("--version is the package's", async ({ expect }) => {
    expect((await runLine("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("an error", () => {
  const refused = () => refusal(404, "not_found", "No key has this id.");

  it("of the service is exit code 1 and its message", async ({ expect }) => {
    const finished = await runLine(`keys show ${ID}`, refused());
    expect(finished).toEqual({ code: 1, out: "", err: "error: No key has this id.\n" });
  });

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

  it("ends a test alert that did not arrive", async ({ expect }) => {
    const { code, out, err } = await runLine("alerts test", { delivered: false, status: 500, error: null });
    expect([code, out, err]).toEqual([
      1,
      expect.stringContaining("500"),
      "error: The test alert did not arrive.\n",
    ]);
  });
});
