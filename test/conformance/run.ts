/**
 * `npm run conformance -- URL --settings FILE`: asks a rate limiter over HTTP whether it keeps its word
 * (docs/conformance.md).
 *
 * Exit codes: 0 no row failed; 1 a row failed; 2 wrong settings or usage.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { Command } from "commander";
import { runTool } from "../../src/tools/run-tool.ts";
import { NotAsked, Session, type World } from "./session.ts";
import { type Settings, settingsOf } from "./settings.ts";
import { askAll, keysOf, type Result, ROWS } from "./suite.ts";

const ANSWER_WITHIN_MS = 10_000;
const COMMAND_WITHIN_MS = 120_000;

type Options = { readonly settings?: string; readonly only?: string; readonly json?: true };

function worldOf(url: string): World {
  return {
    async send(method, path, headers) {
      try {
        const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
        const response = await fetch(url + path, { method, headers, signal, redirect: "manual" });
        return { status: response.status, headers: response.headers, body: await response.text() };
      } catch (thrown) {
        return { status: 0, headers: new Headers(), body: String(thrown) };
      }
    },
    async run(command, env) {
      try {
        const options = { env: { ...process.env, URL: url, ...env }, timeout: COMMAND_WITHIN_MS };
        return (await promisify(execFile)("sh", ["-c", command], options)).stdout;
      } catch (thrown) {
        throw new NotAsked(`The command failed: ${thrown instanceof Error ? thrown.message : thrown}`);
      }
    },
    now: Date.now,
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  };
}

async function run(url: string | undefined, options: Options): Promise<void> {
  if (url === undefined) return list();
  let results: Result[];
  try {
    const settings = settingsOf(readFileSync(options.settings ?? "", "utf8"));
    const rows = rowsOf(options.only);
    const world = worldOf(new URL(url).href.replace(/\/$/, ""));
    await requireAdmission(world, settings);
    console.error(`${rows.length} rows, up to ${Math.ceil((settings.limit.seconds * 10) / 60)} minutes …`);
    results = await askAll(world, settings, rows);
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : thrown);
    process.exitCode = 2;
    return;
  }
  print(url, results, options.json);
  if (results.some(({ verdict }) => verdict === "FAIL")) process.exitCode = 1;
}

function rowsOf(only: string | undefined): typeof ROWS {
  const ids = only?.split(",") ?? ROWS.map(({ id }) => id);
  const unknown = ids.filter((id) => !ROWS.some((row) => row.id === id));
  if (unknown.length > 0) throw new Error(`There is no row ${unknown.join(", ")}.`);
  return ROWS.filter(({ id }) => ids.includes(id));
}

/** Settings that do not fit the limiter would turn each row red. */
async function requireAdmission(world: World, settings: Settings): Promise<void> {
  const session = new Session(world, settings, await keysOf(world, settings.keys)(1), settings.ok);
  const { status, isAdmitted, body } = await session.ask(session.key());
  if (isAdmitted) return;
  throw new Error(
    `"ok" must be admitted. ${settings.ok} was answered ${status || "not at all"}: ${body.slice(0, 200)}`,
  );
}

function print(url: string, results: readonly Result[], isJson = false): void {
  const count = (verdict: Result["verdict"]) => results.filter((each) => each.verdict === verdict).length;
  if (isJson) {
    console.log(JSON.stringify({ url, at: new Date().toISOString(), rows: results }, null, 2));
    return;
  }
  const width = Math.max(...results.map(({ id }) => id.length));
  for (const { id, verdict, seen, sentence, source } of results) {
    console.log(`${verdict.padEnd(9)}  ${id.padEnd(width)}  ${seen}`);
    if (verdict === "FAIL") console.log(`${" ".repeat(width + 13)}${sentence} (${source})`);
  }
  console.log(`\n${count("pass")} pass, ${count("FAIL")} FAIL, ${count("not asked")} not asked`);
}

function list(): void {
  for (const { id, sentence, source, needs = [], profiles = [] } of ROWS) {
    console.log(`${id}: ${sentence}\n    ${[source, ...needs, ...profiles].join("; ")}`);
  }
}

const command = new Command("npm run conformance --")
  .description("Asks a rate limiter over HTTP whether it keeps its word. Without a URL: lists the rows.")
  .argument("[url]", "where the limiter answers, as http://127.0.0.1:8787")
  .option("--settings <file>", "JSON, see docs/conformance.md", "conformance.json")
  .option("--only <rows>", "only these rows, separated by commas")
  .option("--json", "print the results as JSON")
  .addHelpText("after", "\nExit codes: 0 no row failed; 1 a row failed; 2 wrong settings.")
  .action(run);

await runTool(command);
