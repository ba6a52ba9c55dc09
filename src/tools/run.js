/**
 * Runs a program of the project: `node src/tools/run.js src/tools/start.ts …`. Plain JavaScript, because it also runs
 * before `npm ci`, with a Node that may not be able to run TypeScript.
 */
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const modules = fileURLToPath(new URL("../../node_modules/wrangler", import.meta.url));
const [program = ""] = process.argv.splice(2, 1);

if (!existsSync(modules)) fail("The project's packages are not installed. Run this once: npm ci");
else if (!process.features.typescript) {
  fail(
    `Node ${process.versions.node} cannot run this. Install the project's own Node with the other packages: npm ci`,
  );
} else {
  process.argv[1] = program;
  await import(pathToFileURL(program).href);
}

/** @param {string} message */
function fail(message) {
  console.error(`\n${message}\n`);
  process.exitCode = 1;
}
