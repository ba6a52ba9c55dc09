/** The price of a million requests. */
import { describe, it } from "vitest";
import { dollarsPerMillion, type Usage } from "../../bench/prices.ts";

const nothing: Usage = {
  costs: {
    objectCalls: 0,
    objectRowsRead: 0,
    objectRowsWritten: 0,
    d1Queries: 0,
    d1RowsRead: 0,
    d1RowsWritten: 0,
  },
  objectActiveMs: 0,
  cpuMs: 0,
  logLines: 0,
};

describe("dollarsPerMillion", () => {
  it("is the Worker's price for a request that uses nothing else", ({ expect }) => {
    expect(dollarsPerMillion(nothing)).toBeCloseTo(0.3);
  });

  it("adds a call and a row written", ({ expect }) => {
    const costs = { ...nothing.costs, objectCalls: 1, objectRowsWritten: 1 };
    expect(dollarsPerMillion({ ...nothing, costs })).toBeCloseTo(1.45);
  });

  it("adds rows of D1 and their reads", ({ expect }) => {
    const costs = { ...nothing.costs, d1Queries: 2, d1RowsRead: 1_000, d1RowsWritten: 2 };
    expect(dollarsPerMillion({ ...nothing, costs })).toBeCloseTo(0.3 + 1 + 2);
  });

  it("adds CPU time and the time an object is active", ({ expect }) => {
    expect(dollarsPerMillion({ ...nothing, cpuMs: 2 })).toBeCloseTo(0.34);
    expect(dollarsPerMillion({ ...nothing, objectActiveMs: 1_000 })).toBeCloseTo(0.3 + 1.6);
  });

  it("adds lines of Workers Logs", ({ expect }) => {
    expect(dollarsPerMillion({ ...nothing, logLines: 1 })).toBeCloseTo(0.9);
  });

  it("leaves CPU time out where it was not measured", ({ expect }) => {
    expect(dollarsPerMillion({ ...nothing, cpuMs: undefined })).toBeCloseTo(0.3);
  });
});
