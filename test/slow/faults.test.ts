/** The load and SIGKILL parts of `npm run test:faults`, short. The model run has its short half in `npm test`. */
import { describe, it } from "vitest";
import { runLoad } from "../faults/load-run.ts";
import { buildWorker } from "../faults/service.ts";
import { runSigkill } from "../faults/sigkill-run.ts";

const progress = () => {};

describe("one load", () => {
  it("gives clients, limiters and D1 the same counts for every key", async ({ expect }) => {
    const untilMs = Date.now() + 60_000;
    const run = await runLoad(await buildWorker(), { requests: 1_500, seed: 5, untilMs, progress });
    expect(run.failures).toEqual([]);
    expect(run.requests).toBe(1_500);
  });
});

describe("SIGKILL under load", () => {
  it("loses no more than docs/promises.md says", async ({ expect }) => {
    const run = await runSigkill({ kills: 3, untilMs: Date.now() + 60_000, progress });
    expect(run.failures).toEqual([]);
    expect(run.kills).toBe(3);
  });
});
