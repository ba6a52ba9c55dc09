/** Parts of an import that the database refuses, or that an outage interrupts: each order is stored once. */
import { DrizzleQueryError } from "drizzle-orm";
import fc from "fast-check";
import { describe, it, vi } from "vitest";
import { ImportRun, type Part } from "../../../src/worker/admin/order-import-run.ts";
import type { ImportCounts } from "../../../src/worker/db/order-import-repository.ts";
import { MAX_REFUSED_LINES } from "../../../src/worker/orders/import-limits.ts";

const NOTHING: ImportCounts = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  cancelled: 0,
  refused: 0,
  reinserted: 0,
  backwards: 0,
};
const author = { requestId: "r", actor: "mo", at: 0 };

vi.spyOn(console, "error").mockImplementation(() => {});

/** A database that refuses parts with these orders, and is away in these calls. */
function startDatabase(refused: ReadonlySet<string>, awayIn: ReadonlySet<number>) {
  const stored: string[] = [];
  let counts = NOTHING;
  let calls = 0;
  const store = async (part: Part): Promise<ImportCounts> => {
    if (awayIn.has(++calls)) throw new DrizzleQueryError("", [], new Error("Network connection lost."));
    if (part.lines.some(({ id }) => refused.has(id))) throw new Error("SQLITE_CONSTRAINT");
    stored.push(...part.lines.map(({ id }) => id));
    const inserted = part.before.inserted + part.lines.length;
    counts = { ...part.before, inserted, refused: part.before.refused + part.refused };
    return counts;
  };
  return { store, stored, counts: () => counts, calls: () => calls };
}

async function* textOf(lines: readonly string[]) {
  yield lines.join("\n");
}

describe("an import", () => {
  it("stores each order once, whatever the database refuses and whenever it is away", async ({ expect }) => {
    const shape = {
      bad: fc.uniqueArray(fc.nat(2_199), { maxLength: 3 }),
      refused: fc.uniqueArray(fc.nat(2_199), { maxLength: 2 }),
      awayIn: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 5 }),
    };
    await fc.assert(
      fc.asyncProperty(fc.record(shape), async ({ bad, refused, awayIn }) => {
        const lines = Array.from({ length: 2_200 }, (_, i) => (bad.includes(i) ? "x" : `{"id":${i}}`));
        const poison = refused.filter((i) => !bad.includes(i));
        const database = startDatabase(new Set(poison.map(String)), new Set(awayIn));
        const result = await untilDone(database, lines);
        const good = lines.flatMap((line, i) => (line === "x" || poison.includes(i) ? [] : [String(i)]));
        expect(database.stored.toSorted((a, b) => Number(a) - Number(b))).toEqual(good);
        expect(result.refusedCount).toBe(bad.length + poison.length);
      }),
      { numRuns: 30 },
    );
  }, 60_000);

  it("tries a chunk that is refused again in a bounded number of parts", async ({ expect }) => {
    const all = new Set(Array.from({ length: 5_000 }, (_, i) => String(i)));
    const database = startDatabase(all, new Set());
    const result = await untilDone(
      database,
      [...all].map((id) => `{"id":${id}}`),
    );
    expect(result).toMatchObject({ inserted: 0, stopped: true });
    expect(result.refusedCount).toBeLessThanOrEqual(2_000);
    expect(database.calls()).toBeLessThan(60);
  });

  it("lists a bounded number of refused lines, even of other lines than it has stored", async ({
    expect,
  }) => {
    const count = 2 * MAX_REFUSED_LINES;
    const counts = { ...NOTHING, inserted: count };
    const store = () => Promise.reject(new Error("nothing is to be stored"));
    const run = new ImportRun({ import: "imp_1", author, counts, maxRefused: 1, store });
    const result = await run.read(textOf(Array.from({ length: count }, () => "x")), count);
    expect(result.refused).toHaveLength(MAX_REFUSED_LINES);
    expect(result).toMatchObject({ inserted: count, refusedCount: 0, stopped: false });
  });
});

describe("an import that is sent again, and that an outage stops", () => {
  it("counts the lines as stored that were so before", async ({ expect }) => {
    const { store } = startDatabase(new Set(), new Set([1]));
    const counts = { ...NOTHING, inserted: 2 };
    const run = new ImportRun({ import: "imp_1", author, counts, maxRefused: 1, store });
    const lines = ["1", "2", "3", "4"].map((id) => `{"id":${id}}`);
    await expect(run.read(textOf(lines), 2)).rejects.toThrow(
      /This request is stored up to line 2: import imp_1 has 2 inserted.* Whether lines 3 to 4 were stored is not known\./,
    );
  });
});

type FakeDatabase = ReturnType<typeof startDatabase>;

/** As a client does: sends the same request again after each 503. */
async function untilDone({ store, counts }: FakeDatabase, lines: readonly string[]) {
  for (;;) {
    const { inserted, refused } = counts();
    const run = new ImportRun({ import: "imp_1", author, counts: counts(), maxRefused: 1_000, store });
    try {
      return await run.read(textOf(lines), inserted + refused);
    } catch (thrown) {
      if (!String(thrown).includes("The database cannot be reached")) throw thrown;
    }
  }
}
