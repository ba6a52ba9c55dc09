/** The quick half of `npm run test:faults`: random steps with faults, beside the model. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { ISOLATES, runModel } from "../faults/model-run.ts";
import { buildWorker, type FaultService, startFaultService } from "../faults/service.ts";

const STEPS = 60;
const MAX_MS = 2_000;

let service: FaultService;
beforeAll(async () => {
  service = await startFaultService(await buildWorker(), { isolates: ISOLATES });
});
afterAll(() => service.close());

describe("the service under faults", () => {
  it("agrees with the model", async ({ expect }) => {
    const { failures } = await runModel(service, { seed: 13, steps: STEPS, untilMs: Date.now() + MAX_MS });
    expect(failures, failures.join()).toEqual([]);
  }, 120_000);
});
