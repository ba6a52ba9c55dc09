/** Global setup: builds the pages, as wrangler does before it starts the service. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export function setup(): void {
  execFileSync("npm", ["run", "-s", "build"], { cwd: join(import.meta.dirname, "..", "..") });
}
