/** Global setup: builds the pages, as wrangler does before it starts the service, once for all projects. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export function setup(): void {
  if (process.env.PAGES_ARE_BUILT === "1") return;
  execFileSync(process.execPath, ["src/tools/build-pages.ts"], {
    cwd: join(import.meta.dirname, "..", ".."),
  });
  process.env.PAGES_ARE_BUILT = "1";
}
