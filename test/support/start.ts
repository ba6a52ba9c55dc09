/** Runs `npm start` as a process, and finds the processes that a program starts. */
import { type ChildProcess, spawn } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll } from "vitest";
import { PROJECT } from "./cli.ts";

export type Started = {
  readonly child: ChildProcess;
  /** The text of both output streams. */
  readonly output: () => string;
  /** Resolves once the text is in the output; rejects if the process ends before. */
  readonly until: (text: string) => Promise<void>;
  /** The exit code. */
  readonly exited: Promise<number | null>;
};

const started: ChildProcess[] = [];

afterAll(() => {
  for (const child of started) {
    try {
      signalGroup(child, "SIGKILL");
    } catch {} // All its processes have ended.
  }
});

export function spawnStart(...args: string[]): Started {
  return spawnGroup(process.execPath, ["src/tools/run.js", "src/tools/start.ts", ...args]);
}

/** In a process group of its own, as in a terminal. What still runs after the file's tests is killed. */
export function spawnGroup(command: string, args: readonly string[]): Started {
  const child = spawn(command, args, {
    cwd: PROJECT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exited = new Promise<number | null>((done) => child.once("close", done));
  started.push(child);
  const until = async (text: string) => {
    while (!output.includes(text)) {
      if (child.exitCode !== null) throw new Error(`ended before it printed "${text}":\n${output}`);
      await pause(50);
    }
  };
  return { child, output: () => output, until, exited };
}

/** As Ctrl-C does, which signals all processes of the terminal. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal);
}

export function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** The database of a folder that no service uses. */
export function openData(folder: string): DatabaseSync {
  const files = globSync(join(folder, "v3/d1/miniflare-D1DatabaseObject/*.sqlite"));
  const [file = ""] = files.filter((each) => !each.endsWith("metadata.sqlite"));
  return new DatabaseSync(file, { readBigInts: true });
}

/** The process and all its descendants. */
export function processTreeOf({ pid = 0 }: ChildProcess): number[] {
  const parents = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => ({ pid: Number(entry), parent: parentOf(Number(entry)) }));
  const tree = [pid];
  for (const member of tree) {
    tree.push(...parents.filter(({ parent }) => parent === member).map((child) => child.pid));
  }
  return tree;
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined; // The process has ended meanwhile.
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Resolves once none of the processes runs any more. */
export async function untilEnded(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await pause(20);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
