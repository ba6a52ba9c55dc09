/** Runs `npm start` as a process, and finds the processes that it starts. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { type Finished, PROJECT, runProgram, temporaryFolder } from "./cli.ts";

export type Options = { port: number; state: string };

export type Instance = Options & { child: ChildProcess; output: () => string; errors: () => string };

/** The starts of one test file: what is still running after its tests is stopped. */
export function startsOf(token: string) {
  const folder = temporaryFolder();
  const varsFile = join(folder, "vars");
  writeFileSync(varsFile, `ADMIN_TOKEN=${token}\n`);
  const children: ChildProcess[] = [];
  afterAll(async () => {
    await Promise.all(children.map((child) => interrupt(child)));
  });

  const argumentsOf = ({ port, state }: Options) => [
    ...["--port", String(port), "--persist-to", state, "--vars-file", varsFile],
  ];
  /** Does not wait until the service is ready. */
  const spawnStart = (
    options: Options,
    args: readonly string[] = argumentsOf(options),
    env: NodeJS.ProcessEnv = process.env,
  ): Instance => {
    const child = spawn(process.execPath, ["src/tools/start.ts", ...args], {
      cwd: PROJECT,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    let [output, errors] = ["", ""];
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
    });
    child.stderr.on("data", (data: Buffer) => {
      errors += data.toString();
    });
    return { ...options, child, output: () => output, errors: () => errors };
  };
  return {
    folder,
    varsFile,
    spawnStart,

    /** Throws what was printed if the process ends before the service is ready. */
    async start(options: Options, args?: readonly string[], env?: NodeJS.ProcessEnv): Promise<Instance> {
      const instance = spawnStart(options, args, env);
      await new Promise<void>((done, reject) => {
        instance.child.stdout?.on("data", () => {
          if (instance.output().includes("Ctrl-C stops it.")) done();
        });
        instance.child.once("exit", () =>
          reject(new Error(`ended before it was ready:\n${instance.output()}\n${instance.errors()}`)),
        );
      });
      return instance;
    },

    startToEnd(options: Options, spawnOptions: SpawnOptions = {}): Promise<Finished> {
      return runProgram("src/tools/start.ts", argumentsOf(options), {}, spawnOptions);
    },
  };
}

/** Sends SIGINT, as Ctrl-C does, and returns the exit code. Null: the process was ended by a signal. */
export function interrupt(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((done) => {
    child.once("exit", done);
    child.kill("SIGINT");
  });
}

export function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" && address ? address.port : 0));
    });
  });
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

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Resolves once none of the processes runs any more. */
export async function untilEnded(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await new Promise((done) => setTimeout(done, 20));
}

export function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
}

export function demoKeysIn(output: string): string[] {
  return [...output.matchAll(/^ {2}demo \w+ +(sok_\w{38}) /gm)].map(([, key = ""]) => key);
}
