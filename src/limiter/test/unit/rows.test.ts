/**
 * The stored row of each released version is read by this version. `test/rows` has a file for each version,
 * written by that version after the same requests, which `write` makes here. From a release on, its file never
 * changes: a new form of the row needs a new version.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { Row } from "../../core/state.ts";
import { type Limit, perDay, perMinute, RateLimiter, type Report } from "../../index.ts";
import manifest from "../../package.json" with { type: "json" };
import { counted, Platform } from "./platform.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 10, 28, 10, 30);
const ROWS = join(import.meta.dirname, "../rows");

/** Keys after the same nine admitted requests: one goes on and is banned, one is blocked. Another counts tokens. */
type Name = "used" | "banned" | "blocked" | "tokens";
type Stored = { readonly atMs: number; readonly row: Row };

const receiver = { fails: false, reports: [] as Report[] };

const limits: Limit<"tokens">[] = [perMinute(5), perDay(100)];
const tokens: Limit<"tokens"> = { name: "tokens", unit: "tokens", amount: 500, seconds: 86_400 };

class Limiter extends RateLimiter {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env, { thresholds: { window: "minute", percents: [80, 100] } });
  }
  override async loadPolicy() {
    return { limits, bans: {}, facts: { plan: "free" } };
  }
  override async report(report: Report) {
    if (receiver.fails) throw new Error("the receiver is away");
    receiver.reports.push(report);
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  Object.assign(receiver, { fails: false, reports: [] });
  limits.length = 2;
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

async function write(name: Name): Promise<Stored> {
  limits.splice(2, 1, ...(name === "tokens" ? [tokens] : []));
  vi.setSystemTime(START);
  receiver.fails = true;
  const platform = new Platform(Limiter);
  const { object } = platform;
  for (let i = 0; i < 4; i++) await object.admit({});
  await pass(MINUTE);
  for (let i = 0; i < 5; i++) await object.admit(i === 4 ? { settleId: "a", cost: { tokens: 400 } } : {});
  for (let i = 0; i < 8; i++) {
    await object.admit({});
    await pass(SECOND);
  }
  await pass(3 * SECOND);
  if (name === "blocked") await object.block({ endsAtMs: START + HOUR, reason: "abuse" });
  for (let i = 0; name === "banned" && i < 30; i++) {
    await object.admit({});
    await pass(SECOND);
  }
  await pass(3 * SECOND);
  const rows: Row[] = [];
  platform.changeRow((row) => {
    rows.push(row);
    return row;
  });
  const [row] = rows;
  if (row === undefined) throw new Error("no row was stored");
  return { atMs: Date.now(), row };
}

const versions = globSync("*.json", { cwd: ROWS })
  .map((file) => basename(file, ".json"))
  .toSorted();

const rowsOf = (version: string): Partial<Record<Name, Stored>> =>
  JSON.parse(readFileSync(join(ROWS, `${version}.json`), "utf8"));

/** The object of this version, on a row of that version, at the time when the row was written. */
async function objectOn({ atMs, row }: Stored) {
  vi.setSystemTime(atMs);
  const platform = new Platform(Limiter);
  // So that there is a row to change.
  await platform.object.admit({});
  await pass(0);
  receiver.reports = [];
  platform.changeRow(() => row);
  return platform.object;
}

describe.for(versions)("a row of %s", (version) => {
  const rows = rowsOf(version);

  it("goes on with its counts, strikes and usage", async ({ expect }) => {
    const stored = rows.used;
    if (stored === undefined) throw new Error("no such row");
    const object = await objectOn(stored);
    expect((await object.inspect())?.quota.map(({ used }) => used)).toEqual([5, 9]);
    expect((await object.admit({})).kind).toBe("limited");
    await pass(MINUTE);
    const { kind, quota } = counted(await object.admit({}));
    expect([kind, quota.map(({ used }) => used)]).toEqual(["admitted", [1, 10]]);
    await pass(2 * HOUR);
    expect(counted(await object.admit({})).quota.map(({ used }) => used)).toEqual([1, 11]);
    await object.flush();
    const hours = receiver.reports.flatMap((report) => report.hours);
    const first = hours.filter(({ startMs }) => startMs === Math.floor(START / HOUR) * HOUR).at(-1);
    // The row may lack refusals of its last second.
    expect(first).toMatchObject({
      admitted: 10,
      refused: expect.any(Number),
      limits: { minute: 5, day: 100 },
    });
    expect(first?.refused).toBeGreaterThanOrEqual(8);
  });

  it("keeps its ban, and reports it", async ({ expect }) => {
    const stored = rows.banned;
    if (stored === undefined) throw new Error("no such row");
    const { lastBan } = stored.row.penalty;
    const object = await objectOn(stored);
    expect(await object.admit({})).toMatchObject({ kind: "banned", ban: { id: lastBan?.id } });
    await object.flush();
    expect(receiver.reports.flatMap(({ bans }) => bans)).toEqual([lastBan]);
    vi.setSystemTime(lastBan?.endsAtMs ?? 0);
    expect((await object.admit({})).kind).toBe("admitted");
  });

  it.runIf(rows.blocked !== undefined)("keeps its block, and what is not settled", async ({ expect }) => {
    const stored = rows.blocked;
    if (stored === undefined) throw new Error("no such row");
    const object = await objectOn(stored);
    expect(await object.admit({})).toMatchObject({ kind: "banned", ban: { reason: "abuse" } });
    await object.settle("a", 0);
    expect((await object.inspect())?.quota.map(({ used }) => used)).toEqual([4, 8]);
  });

  it.runIf(rows.tokens !== undefined)("keeps what is used of each unit", async ({ expect }) => {
    const stored = rows.tokens;
    if (stored === undefined) throw new Error("no such row");
    limits.push(tokens);
    const object = await objectOn(stored);
    await object.settle("a", { tokens: 7 });
    expect((await object.inspect())?.quota.map(({ used }) => used)).toEqual([5, 9, 7]);
  });
});

it("the row of this version is the file of this version", async ({ expect }) => {
  const rows: Record<string, Stored> = {};
  for (const name of ["used", "banned", "blocked", "tokens"] as const) rows[name] = await write(name);
  await expect(`${JSON.stringify(rows, null, 2)}\n`).toMatchFileSnapshot(
    join(ROWS, `${manifest.version}.json`),
  );
});
