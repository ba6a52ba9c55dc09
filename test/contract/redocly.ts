/** Runs Redocly, the linter and generator of `npm test`, as a process. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Finished, runProcess } from "../support/cli.ts";

const MANIFEST = createRequire(import.meta.url).resolve("@redocly/cli/package.json");

/** Turns off telemetry and update checks. */
const SILENT = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

export function runRedocly(args: readonly string[], folder: string): Promise<Finished> {
  return runProcess(process.execPath, [join(dirname(MANIFEST), "bin", "cli.js"), ...args], SILENT, {
    cwd: folder,
  });
}
