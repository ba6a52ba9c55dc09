/** `GET /admin/audit`: filters by actor, call, object and time, and all of them. Pages: lists.test.ts. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, it } from "vitest";
import { startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

/** Midnight of 2034-05-01, a time with no other entries. */
const START = Date.UTC(2034, 4, 1) / 1000;
const MINUTES = 500;

/** One entry a minute: `ann` and `bob` in turn; every tenth is a ban, by either; orders 0 to 6. */
const entryAt = (minute: number) => ({
  at: START + 60 * minute,
  actor: minute % 2 === 0 ? "ann" : "bob@example.test",
  call: minute % 5 === 0 ? "bans.set" : "keys.update",
  object: String(minute % 7),
});

beforeAll(async () => {
  const insert = env.DB.prepare(
    "insert into audit_log (at, request_id, actor, call, object) values (cast(? as integer), 'r', ?, ?, ?)",
  );
  await env.DB.batch(
    Array.from({ length: MINUTES }, (_, minute) => insert.bind(...Object.values(entryAt(minute)))),
  );
});

type Entry = { id: number; at: string; actor: string; call: string; object: string };

async function listed(query: string): Promise<Entry[]> {
  return (await operator("GET", `/audit?${query}&limit=500`)).body.audit as Entry[]; // the body of this route
}

const minutesOf = (entries: readonly Entry[]) =>
  entries.map(({ at }) => (Date.parse(at) / 1000 - START) / 60);

const expected = (matches: (entry: ReturnType<typeof entryAt>, minute: number) => boolean) =>
  Array.from({ length: MINUTES }, (_, i) => MINUTES - 1 - i).filter((minute) =>
    matches(entryAt(minute), minute),
  );

describe("the audit log, filtered", () => {
  const cases: [string, string, (entry: ReturnType<typeof entryAt>, minute: number) => boolean][] = [
    ["by actor", "actor=bob@example.test", ({ actor }) => actor === "bob@example.test"],
    ["by call", "call=bans.set", ({ call }) => call === "bans.set"],
    ["by object", "object=3", ({ object }) => object === "3"],
    [
      "by time, from inclusive and to exclusive",
      "from=2034-05-01T01:00:00Z&to=2034-05-01T03:00:00%2B01:00",
      (_, minute) => minute >= 60 && minute < 120,
    ],
    ["by day", "from=2034-05-01&to=2034-05-02", () => true],
    [
      "by actor, call, object and time",
      "actor=ann&call=bans.set&object=3&from=2034-05-01T02:00:00Z&to=2034-05-01T07:00:00Z",
      ({ actor, call, object }, minute) =>
        actor === "ann" && call === "bans.set" && object === "3" && minute >= 120 && minute < 420,
    ],
    ["by an actor who did nothing", "actor=nobody", () => false],
  ];
  for (const [name, query, matches] of cases) {
    it(`${name}, newest first`, async ({ expect }) => {
      const entries = await listed(query);
      expect(minutesOf(entries)).toEqual(expected(matches));
    });
  }

  it("finds an entry that was stored after a later one", async ({ expect }) => {
    const dayAfter = START + 86_400;
    for (const seconds of [1_800, 0, 7_200]) {
      await env.DB.prepare(
        "insert into audit_log (at, request_id, actor, call, object) values (?, 'r', 'ann', 'keys.update', ?)",
      )
        .bind(dayAfter + seconds, `after ${seconds} s`)
        .run();
    }
    for (const [query, objects] of [
      ["from=2034-05-02&to=2034-05-02T00:10:00Z", ["after 0 s"]],
      ["from=2034-05-02", ["after 7200 s", "after 0 s", "after 1800 s"]],
      ["from=2034-05-02T00:10:00Z&to=2034-05-02T01:00:00Z", ["after 1800 s"]],
    ] as const) {
      const entries = await listed(query);
      expect(
        entries.map(({ object }) => object),
        query,
      ).toEqual(objects);
    }
    expect((await operator("GET", "/audit?from=2034-05-02&to=2034-05-01")).status).toBe(400);
  });
});
