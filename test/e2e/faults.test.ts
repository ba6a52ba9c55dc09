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
  const ofToday = Math.floor(Date.now() / 86_400_000);
  for (const [name, seed] of [
    ["a fixed seed", 13],
    ["the seed of today", ofToday],
  ] as const) {
    it(`agrees with the model: ${name}`, async ({ expect }) => {
      const { failure } = await runModel(service, { seed, steps: STEPS, untilMs: Date.now() + MAX_MS });
      expect(failure, failure).toBeUndefined();
    }, 120_000);
  }
});
