/** Global setup: builds the pages, as wrangler does before it starts the service. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** `npm test` sets this variable: it builds the pages once, before its processes start. */
export const PAGES_ARE_BUILT = "PAGES_ARE_BUILT";

export function setup(): void {
  if (process.env[PAGES_ARE_BUILT] === "1") return;
  execFileSync("npm", ["run", "-s", "build"], { cwd: join(import.meta.dirname, "..", "..") });
}
