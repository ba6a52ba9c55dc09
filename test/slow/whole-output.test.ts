/** Tools that print a result, on a disk that is full. */
import { describe, it } from "vitest";
import { runProcess } from "../support/cli.ts";

describe("a result that cannot be stored is exit code 1 and a line", () => {
  for (const command of [
    "npm run -s bench -- --scaling",
    "npm run -s bench -- --scaling --json",
    "npm run -s check:bundle",
    "npm run -s test:faults -- --only model --steps 1",
  ]) {
    it(command, async ({ expect }) => {
      const { code, err } = await runProcess("sh", ["-c", `${command} > /dev/full`], {});
      expect(code).toBe(1);
      expect(err).toMatch(/^The output cannot be written: ENOSPC: no space left on device, write$/m);
    });
  }
});

it("progress that cannot be written ends nothing", async ({ expect }) => {
  for (const command of ["test:fuzz -- --requests 50 --seed 5", "test:faults -- --only model --steps 1"]) {
    const { code, out } = await runProcess("sh", ["-c", `npm run -s ${command} 2> /dev/full`], {});
    expect([code, out.length], command).toEqual([0, expect.toSatisfy((length) => length > 100)]);
  }
});
