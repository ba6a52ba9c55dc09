/**
 * `npm run test:proof`: every order of events in a small scope, on the real limiter. `-- WORLD DEPTH` runs
 * one world, `-- quick` what `npm test` runs. Exit code 1 if something is wrong.
 */
import { registerHooks } from "node:module";

const STUB = new URL("../../../../test/support/cloudflare-workers.ts", import.meta.url).href;
registerHooks({
  resolve: (name, context, next) =>
    name === "cloudflare:workers" ? { url: STUB, shortCircuit: true } : next(name, context),
});
// After the hook, which the object needs.
const { proof } = await import("./worlds.ts");

const [only, depth] = process.argv.slice(2);
const startMs = performance.now();
let states = 0;
const results =
  only === "quick" ? proof("quick") : proof("whole", only, depth === undefined ? undefined : Number(depth));
for await (const { name, scope, depth, wrong, ...result } of results) {
  const orders = result.isComplete ? "of any number of" : `of up to ${depth}`;
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(
    `${name}: every order ${orders} events, ${result.states} states, ${result.steps} steps (${seconds} s)`,
  );
  console.log(`  ${scope}`);
  states += result.states;
  if (wrong === undefined) continue;
  console.log(`  WRONG after: ${wrong}`);
  process.exitCode = 1;
}
const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
console.log(`${states} states${process.exitCode === 1 ? "" : ", none wrong"} (${megabytes} MB).`);
