#!/usr/bin/env node
/** The command `store-orders`. Plain JavaScript, because any Node may start it. */
process.argv.splice(2, 0, "src/cli/main.ts");
await import("../tools/run.js");
