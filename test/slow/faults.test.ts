/** The three parts of `npm run test:faults`, short. `npm test` has a model run, too, with a fixed seed. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "vitest";
import { runLoad } from "../faults/load-run.ts";
import { ISOLATES, runModel } from "../faults/model-run.ts";
import { buildWorker, startFaultService } from "../faults/service.ts";
import { runSigkill } from "../faults/sigkill-run.ts";
import { temporaryFolder } from "../support/cli.ts";
import { processTreeOf, untilEnded } from "../support/start.ts";

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
  const temporary = temporaryFolder();

  it("loses no more than docs/promises.md says", async ({ expect }) => {
    const run = await runSigkill({ kills: 3, untilMs: Date.now() + 60_000, progress });
    expect(run.failures).toEqual([]);
    expect(run.kills).toBe(3);
  });

  it.for(["SIGHUP", "SIGKILL"] as const)(
    "leaves no process when the run is ended by %s",
    async (signal, { expect }) => {
      const run = spawn(process.execPath, ["test/faults/run.ts", "--only", "sigkill", "--minutes", "1"], {
        stdio: "ignore",
        env: { ...process.env, TMPDIR: temporary },
      });
      let processes: number[] = [];
      const isWorkerd = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("workerd");
      await expect
        .poll(
          () => {
            processes = processTreeOf(run);
            return processes.some(isWorkerd);
          },
          { timeout: 30_000 },
        )
        .toBe(true);
      run.kill(signal);
      await untilEnded(processes);
    },
  );
});
