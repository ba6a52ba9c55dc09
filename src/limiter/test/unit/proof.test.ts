/** Every order of few events, as `npm run test:proof` has of many (docs/promises.md). */
import { it } from "vitest";
import { proof } from "../proof/worlds.ts";

// It computes for 6 s, and on loaded cores ten times as long.
it("no order of events breaks a promise", { timeout: 300_000 }, async ({ expect }) => {
  for await (const { name, states, wrong } of proof("quick")) {
    expect([name, wrong]).toEqual([name, undefined]);
    expect(states).toBeGreaterThan(9);
  }
});
