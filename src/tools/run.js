/**
 * Runs a TypeScript program: `node src/tools/run.js src/tools/start.ts`. This file is plain JavaScript,
 * because any Node may start it. An old Node hands on to the Node that `npm ci` installed.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PACKAGES = new URL("../../node_modules/", import.meta.url);
const NODE = process.platform === "win32" ? "bin/node.exe" : "bin/node";

endWithNpm();
if (!existsSync(new URL("wrangler", PACKAGES))) {
  fail("The packages are not installed. Run this once: npm ci --include=dev");
} else if (process.features.typescript) {
  const [program = ""] = process.argv.splice(2, 1);
  await import(new URL(`../../${program}`, import.meta.url).href);
} else {
  runWithPackagedNode();
}

/** A kill of npm ends only npm and its shell. This process would go on, and no Ctrl-C would reach it. */
function endWithNpm() {
  const shell = process.ppid;
  if (process.env.npm_lifecycle_event === undefined) return;
  setInterval(() => process.ppid === shell || process.kill(process.pid, "SIGTERM"), 500).unref();
}

function runWithPackagedNode() {
  const node = readdirSync(PACKAGES)
    .map((name) => new URL(`${name}/${NODE}`, PACKAGES))
    .find((path) => existsSync(path));
  if (node === undefined) {
    const here = `${process.platform} ${process.arch}`;
    fail(
      `Node ${process.versions.node} cannot run this, and npm ci has none for ${here}: install Node 24 or newer.`,
    );
    return;
  }
  const child = spawn(fileURLToPath(node), [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  child.on("close", (code) => {
    process.exitCode = code ?? 1;
  });
  // A terminal sends Ctrl-C to both processes. This process waits for the child.
  process.on("SIGINT", () => {});
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"]))
    process.on(signal, () => child.kill(signal));
}

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exitCode = 1;
}
