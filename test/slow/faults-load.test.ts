/** The load part of `npm run test:faults`, short: clients, limiters and D1 have the same counts. */
import { describe, it } from "vitest";
import { runLoad } from "../faults/load-run.ts";
import { buildWorker } from "../faults/service.ts";

describe("one load, three counts", () => {
  it("agree to the unit for every key", async ({ expect }) => {
    const untilMs = Date.now() + 60_000;
    const run = await runLoad(await buildWorker(), { requests: 1_500, seed: 5, untilMs, progress: () => {} });
    expect(run.failures).toEqual([]);
    expect(run.requests).toBe(1_500);
  });
});
