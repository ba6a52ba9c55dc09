/**
 * Runs a program of the project: `node src/tools/run.js src/tools/start.ts …`. Plain JavaScript, because it also runs
 * before `npm ci`, and with a Node that cannot run TypeScript.
 */
import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
const [program = ""] = process.argv.splice(2, 1);

if (!existsSync(`${modules}/wrangler`)) {
  // With NODE_ENV=production, npm ci leaves wrangler out.
  fail("The project's packages are not installed. Run this once: npm ci --include=dev");
} else if (!process.features.typescript) {
  fail(`Node ${process.versions.node} cannot run this. ${nodeAdvice()}`);
} else {
  process.argv[1] = program;
  // First, as the program can take a second to load.
  await import("./npm-shell.ts");
  await import(pathToFileURL(program).href);
}

function nodeAdvice() {
  if (!existsSync(`${modules}/.bin/node`))
    return `Install Node 24 or newer: npm ci installed none for ${process.platform} ${process.arch}.`;
  if (modules.includes(delimiter))
    return `npm cannot use the Node that npm ci installed, as the project's path has a "${delimiter}". Move it to another folder.`;
  return "Start it with npm, which uses the Node that npm ci installed: npm start, npm run admin";
}

/** @param {string} message */
function fail(message) {
  console.error(`\n${message}\n`);
  process.exitCode = 1;
}
