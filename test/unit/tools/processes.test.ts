/** Which processes run, with `ps` and, as in a small container, without it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, it } from "vitest";
import { isGroupRunning, isProcessRunning } from "../../../src/tools/processes.ts";

describe.runIf(process.platform === "linux").for(["with ps", "without ps"])(
  "running processes %s",
  (name) => {
    const { PATH } = process.env;
    let child: ChildProcess;

    beforeAll(async () => {
      child = spawn(
        process.execPath,
        ["-e", "console.log(); setInterval(() => {}, 1000)", "a command line"],
        {
          detached: true, // a process group of its own
          stdio: ["ignore", "pipe", "ignore"],
        },
      );
      if (child.stdout) await once(child.stdout, "data");
      if (name === "without ps") process.env.PATH = "/nowhere";
    });
    afterAll(() => {
      process.env.PATH = PATH;
      child.kill("SIGKILL");
    });

    it("are found by their command line", ({ expect }) => {
      const pid = child.pid ?? 0;
      expect([isProcessRunning(pid, /a command line/), isGroupRunning(pid, /a command line/)]).toEqual([
        true,
        true,
      ]);
      expect([isProcessRunning(pid, /another one/), isGroupRunning(pid, /another one/)]).toEqual([
        false,
        false,
      ]);
    });

    it("are not the threads of a process, which accept signals too", ({ expect }) => {
      const thread =
        readdirSync(`/proc/${child.pid}/task`)
          .map(Number)
          .find((id) => id !== child.pid) ?? 0;
      expect(() => process.kill(thread, 0)).not.toThrow();
      expect(isProcessRunning(thread, /a command line/)).toBe(false);
    });
  },
);
