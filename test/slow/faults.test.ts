/** The three parts of `npm run test:faults`, short. `npm test` has a model run, too, with a fixed seed. */
import { describe, it } from "vitest";
import { runLoad } from "../faults/load-run.ts";
import { ISOLATES, runModel } from "../faults/model-run.ts";
import { buildWorker, startFaultService } from "../faults/service.ts";
import { runSigkill } from "../faults/sigkill-run.ts";

const progress = () => {};

describe("the service under faults", () => {
  it("agrees with the model: the seed of today", async ({ expect }) => {
    const service = await startFaultService(await buildWorker(), { isolates: ISOLATES });
    const seed = Math.floor(Date.now() / 86_400_000);
    const { failure } = await runModel(service, { seed, steps: 300, untilMs: Date.now() + 15_000 });
    await service.close();
    expect(failure, failure).toBeUndefined();
  });
});

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
