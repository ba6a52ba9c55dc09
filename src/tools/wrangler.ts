/** Runs wrangler as a child process: without telemetry, and stopped together with all processes that it starts. */
import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export const PROJECT_FOLDER = join(import.meta.dirname, "..", "..");

const WRANGLER = join(
  dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
  "bin",
  "wrangler.js",
);

export const CONFIGURATION = join(PROJECT_FOLDER, "wrangler.toml");

const DEV_SERVER = join(import.meta.dirname, "dev-server.ts");

const END_WITH_PARENT = new URL("./end-with-parent.ts", import.meta.url).href;

/**
 * Turns off wrangler's Local Explorer, which reads and changes D1 without a token on the service's port, and its store of
 * traces, which keeps full URLs.
 */
export const NO_LOCAL_EXPLORER_ENV = { X_LOCAL_EXPLORER: "false", X_LOCAL_OBSERVABILITY: "false" };

/** No telemetry, no network requests of its own, no questions. */
const NON_INTERACTIVE_ENV = {
  ...NO_LOCAL_EXPLORER_ENV,
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  CI: "true",
  // The vars come from the vars file only.
  CLOUDFLARE_INCLUDE_PROCESS_ENV: "false",
  CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "true",
};

export type Wrangler = {
  readonly child: ChildProcess;
  /** The last 100,000 characters of both output streams. */
  readonly output: () => string;
  readonly exited: Promise<number>;
  /** Signals the whole process group: wrangler, workerd, and their child processes. */
  readonly stop: (signal?: NodeJS.Signals) => void;
};

export type DevServerOptions = {
  readonly port: number;
  readonly persistTo: string;
  readonly varsFile: string;
};

/**
 * What Node runs for wrangler with these arguments. Without `--config`, wrangler prefers a wrangler.json, and a redirection in
 * .wrangler/deploy, of any parent folder, which may be another project's or another user's.
 */
export function wranglerProgram(args: readonly string[]): string[] {
  return [WRANGLER, ...args, "--config", CONFIGURATION];
}

export function runWrangler(args: readonly string[]): Wrangler {
  return run(wranglerProgram(args));
}

/**
 * Runs the Worker of this project on this machine, with data in the folder `persistTo` and secrets of `varsFile`. The child
 * process sends a message when it listens.
 */
export function runDevServer({ port, persistTo, varsFile }: DevServerOptions): Wrangler {
  return run([DEV_SERVER, String(port), persistTo, varsFile], ["ipc"]);
}

function run(program: readonly string[], moreStreams: readonly "ipc"[] = []): Wrangler {
  const child = spawn(process.execPath, ["--import", END_WITH_PARENT, ...program], {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, ...NON_INTERACTIVE_ENV },
    stdio: ["pipe", "pipe", "pipe", ...moreStreams], // standard input: see END_WITH_PARENT
    detached: true,
  });
  let output = "";
  const append = (data: Buffer) => {
    output = (output + data.toString()).slice(-100_000);
  };
  child.stdout?.on("data", append);
  child.stderr?.on("data", append);
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
    // The group has ended already.
  }
}
