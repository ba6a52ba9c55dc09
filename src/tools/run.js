/**
 * Runs a tool that is written in TypeScript: `node src/tools/run.js start.ts`. Plain JavaScript, because it also runs before
 * `npm ci`, and with a Node that cannot read TypeScript.
 */
import { existsSync } from "node:fs";

const [tool = ""] = process.argv.splice(2, 1);

if (!existsSync(new URL("../../node_modules/wrangler", import.meta.url))) {
  fail("The packages are not installed. Run this once: npm ci --include=dev");
} else if (!process.features.typescript) {
  fail(
    `Node ${process.versions.node} cannot run this. Use an npm script, such as npm start, which has the Node that npm ci installed; if npm ci installed none for ${process.platform} ${process.arch}, install Node 24 or newer.`,
  );
} else {
  await import(`./${tool}`);
}

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exitCode = 1;
}
