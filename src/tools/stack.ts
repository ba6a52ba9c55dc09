/** `npm run stack`: names the lines of src in a stack of the log, because the deployed Worker is minified. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { runTool } from "./run-tool.ts";
import { CONFIGURATION, LOCAL_ENV, wranglerCommand } from "./wrangler.ts";

async function printStack(): Promise<void> {
  const line = await text(process.stdin);
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "store-orders-stack-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  // The same commit always makes the same bundle.
  const dryRun = wranglerCommand(["deploy", "--dry-run", "--env=", "--outdir", folder]);
  execFileSync(process.execPath, dryRun, { env: { ...process.env, ...LOCAL_ENV }, stdio: "pipe" });
  const map = new SourceMap(JSON.parse(readFileSync(join(folder, "index.js.map"), "utf8")));

  /** `place` stays as it is if it is none of the bundle. */
  const sourceOf = (place: string, lineNumber: string, columnNumber: string): string => {
    const origin = map.findOrigin(Number(lineNumber), Number(columnNumber));
    if (!("fileName" in origin)) return place;
    const file = relative(dirname(CONFIGURATION), resolve(folder, origin.fileName));
    return `${file}:${origin.lineNumber}:${origin.columnNumber}`;
  };
  // In a line of the log, a stack has `\n` as two characters.
  const places = /(?:file:\/\/)?[\w./-]*\bindex\.js:(\d+):(\d+)/g;
  process.stdout.write(line.replaceAll("\\n", "\n").replace(places, sourceOf));
}

await runTool(
  new Command("npm run -s stack")
    .description("Reads a line of the log, and writes its stack with the files and lines of this commit.")
    .action(printStack),
);
