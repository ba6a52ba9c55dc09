/** Bad input against the real Worker in workerd: as `npm run test:faults`, with fewer requests. */
import { describe, it } from "vitest";
import { fuzz } from "../fuzz/fuzz.ts";

const REQUESTS = 150;
const SEED = 13;

describe("the service, sent bad input", () => {
  it(`answers ${REQUESTS} requests as specified, changes nothing that it refuses, and uses bounded memory`, async ({
    expect,
  }) => {
    const untilMs = Date.now() + 200_000;
    const { failures, sent } = await fuzz({ requests: REQUESTS, seed: SEED, untilMs });
    expect(failures).toEqual([]);
    expect(sent).toBe(REQUESTS);
  }, 240_000);
});
