/** The benchmark's chart. */
import { describe, it } from "vitest";
import { plot } from "../../bench/plot.ts";
import type { CaseResult } from "../../bench/results.ts";

const spread = (median: number) => ({ median, min: median / 2, max: median * 2 });

const bar = (name: string, cpuMs: number): CaseResult => ({
  id: name,
  name,
  cpu: { msPerRequest: spread(cpuMs), ofBare: spread(1), ofHotPath: spread(1) },
  requestsPerSecond: spread(1),
  p50Ms: spread(1),
  p99Ms: spread(1),
  costs: {
    objectCalls: 0,
    objectRowsRead: 0,
    objectRowsWritten: 0,
    d1Queries: 0,
    d1RowsRead: 0,
    d1RowsWritten: 0,
  },
  objectActiveMs: 0,
  dollarsPerMillion: 0,
});

const listOf = (orders: number, totalMs: number) => ({
  list: "ours",
  orders,
  states: { cold: { status: 200, firstByteMs: 1, totalMs, bytes: 2 } },
});

const plan = { requests: 1, rounds: 1 };

describe("plot", () => {
  it("draws a bar for each case and a point for each list", ({ expect }) => {
    const lists = [listOf(1_000, 5), listOf(10_000, 50)];
    const svg = plot({ plan, cases: [bar("a < b", 1), bar("ours", 2)], lists });
    expect(svg.match(/<rect x=/g)).toHaveLength(2);
    expect(svg.match(/<circle/g)).toHaveLength(2);
    expect(svg).toContain("a &lt; b");
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("leaves out an empty list, which a logarithmic axis cannot show, and a list that failed", ({
    expect,
  }) => {
    const failed = { list: "ours", orders: 100_000, states: {}, failure: "status 500" };
    const svg = plot({ plan, cases: [], lists: [listOf(0, 1), listOf(1_000, 5), failed] });
    expect(svg.match(/<circle/g)).toHaveLength(1);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("draws nothing that was not measured", ({ expect }) => {
    expect(plot({ plan, cases: [], lists: [] })).not.toMatch(/<text|NaN|Infinity/);
  });
});
