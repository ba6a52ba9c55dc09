/** Running wrangler as a child: quiet, offline, and stopped together with everything it started. */
import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export const PROJECT_FOLDER = join(import.meta.dirname, "..", "..");

const WRANGLER = join(
  dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
  "bin",
  "wrangler.js",
);

/** No telemetry, no look-ups on the network, no questions. */
const QUIET_ENVIRONMENT = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  CI: "true",
};

export type Wrangler = {
  readonly child: ChildProcess;
  /** What it printed so far, both streams. */
  readonly output: () => string;
  readonly exited: Promise<number>;
  /** Ends the whole process group: wrangler, the runtime it started, and their helpers. */
  readonly stop: (signal?: NodeJS.Signals) => void;
};

export function runWrangler(args: readonly string[]): Wrangler {
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, ...QUIET_ENVIRONMENT },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const remember = (data: Buffer) => {
    output = (output + data.toString()).slice(-100_000);
  };
  child.stdout.on("data", remember);
  child.stderr.on("data", remember);
  const exited = new Promise<number>((done) => {
    child.once("error", (error) => {
      output += error.message;
      done(1);
    });
    child.once("exit", (code) => done(code ?? 1));
  });
  return { child, output: () => output, exited, stop: (signal = "SIGTERM") => stopGroup(child, signal) };
}

function stopGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}
