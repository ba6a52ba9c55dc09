/**
 * `dev-server.ts PORT STATE VARS_FILE`: what `wrangler dev` does, without its ports for debugging. Any program of the machine,
 * and any page in a browser of it, could read the admin token through the runtime's inspector. `wrangler dev` has no option
 * that turns it off. Sends its parent a message when it listens and runs the Worker. Ends with an error if it cannot.
 */
import { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { unstable_DevEnv } from "wrangler";
import { forwardIpv6Loopback } from "./ipv6-loopback.ts";
import { messageOf } from "./start-error.ts";
import { CONFIGURATION } from "./wrangler.ts";

const [port, persist = "", varsFile = ""] = process.argv.slice(2);

/** wrangler starts a runtime again within one second. A slow machine may take ten times as long. */
const MAX_RESTART_MS = 10_000;

let isReady = false;
let isRestarting = false;

subscribe("child_process", (message) => {
  if (typeof message !== "object" || message === null || !("process" in message)) return;
  const child = message.process;
  if (!(child instanceof ChildProcess)) return;
  child.once("exit", (code, signal) => {
    const isRuntime = child.spawnargs.some((argument) => argument.startsWith("--socket-addr=entry="));
    if (isReady && isRuntime && !child.killed) void onRuntimeExit(child, signal ?? `exit code ${code}`);
  });
});

/**
 * When the workerd that listens has ended, wrangler starts another one, which keeps all requests waiting for ever. When the
 * one that runs the Worker has ended, the one that wrangler starts works. But if it cannot start, each request is a 500 for ever.
 */
async function onRuntimeExit({ spawnargs }: ChildProcess, reason: string): Promise<void> {
  const isListener = spawnargs.includes(`--socket-addr=entry=127.0.0.1:${port}`);
  if (!isListener && !isRestarting) {
    isRestarting = true;
    if (await isAnsweringAgain()) {
      isRestarting = false;
      return;
    }
  }
  endWith(`The runtime (workerd) has ended unexpectedly: ${reason}. Start it again.`);
}

async function isAnsweringAgain(): Promise<boolean> {
  for (const deadlineMs = Date.now() + MAX_RESTART_MS; Date.now() < deadlineMs; ) {
    await setTimeout(200);
    const request = { method: "HEAD", signal: AbortSignal.timeout(2_000) };
    const response = await fetch(`http://127.0.0.1:${port}/openapi.json`, request).catch(() => undefined);
    if (response?.ok) return true;
  }
  return false;
}

const devEnv = new unstable_DevEnv();
// Without these, wrangler logs some of the errors, and the service would never be ready.
for (const event of ["error", "buildFailed"]) {
  devEnv.on(event, (failed) => {
    if (!isReady) endWith(reasonOf(failed));
  });
}

try {
  await forwardIpv6Loopback(Number(port));
  const isRunning = once(devEnv, "reloadComplete");
  const worker = await devEnv.startWorker({
    config: CONFIGURATION,
    env: "",
    envFiles: [varsFile],
    dev: {
      remote: false,
      server: { hostname: "127.0.0.1", port: Number(port) },
      inferOriginFromRoutes: false, // otherwise the Worker would take the domain in `routes` for its own address
      persist,
      inspector: false,
      // The registry of local Workers has the address of a debug port, which calls their entry points and objects.
      registry: undefined,
      logLevel: "log",
    },
  });
  await Promise.all([worker.ready, isRunning]);
  isReady = true;
  process.send?.("ready");
} catch (thrown) {
  endWith(messageOf(thrown));
}

/** What wrangler emits is an error, or an event with its cause. */
function reasonOf(failed: unknown): string {
  const cause = typeof failed === "object" && failed && "cause" in failed ? failed.cause : undefined;
  return messageOf(cause ?? failed);
}

function endWith(message: string): never {
  console.error(`\n${message}\n`);
  process.exit(1);
}
