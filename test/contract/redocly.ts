/** Runs Redocly's linter with its strictest rules as a process. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const manifest = createRequire(import.meta.url).resolve("@redocly/cli/package.json");
const REDOCLY = join(dirname(manifest), "bin", "cli.js");

/** Turns off telemetry and update checks. */
const SILENT = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

export function lintWithRedocly(fileName: string, text: string): { status: number | null; output: string } {
  const folder = mkdtempSync(join(tmpdir(), "store-orders-lint-"));
  try {
    const file = join(folder, fileName);
    writeFileSync(file, text);
    const args = [REDOCLY, "lint", file, "--extends", "recommended-strict", "--format", "github-actions"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, ...SILENT },
      encoding: "utf8",
    });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
