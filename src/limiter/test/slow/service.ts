/** A process for a test to kill: two isolates of a Worker. Prints addresses. Arguments: script, folder. */
import { readFile } from "node:fs/promises";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const [script = "", folder = ""] = process.argv.slice(2);
const contents = await readFile(script, "utf8");
const names = ["one", "two"];
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    resourcePersistencePath: folder,
    workers: names.map((name) => ({
      name,
      modules: [{ type: "ESModule", path: "worker.js", contents }],
      compatibilityDate: "2026-11-01",
      durableObjects: { RATE_LIMITER: { className: "RateLimiter", useSQLite: true, scriptName: "one" } },
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    })),
  }),
);
await miniflare.ready;
const urls = await Promise.all(names.map((name) => miniflare.unsafeGetDirectURL(name)));
process.stdout.write(`${JSON.stringify(urls)}\n`);
