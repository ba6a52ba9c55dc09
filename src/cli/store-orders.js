#!/usr/bin/env node
/** The command `store-orders`. Plain JavaScript, so that a Node that cannot run TypeScript says what to do. */
if (process.features.typescript) {
  await import("./main.ts");
} else {
  const advice =
    "run it as `npx store-orders` in the project's folder, after `npm ci`, which installs a newer Node";
  console.error(`error: Node ${process.versions.node} cannot run this command: ${advice}.`);
  process.exitCode = 1;
}
