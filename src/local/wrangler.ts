/** Runs the wrangler of the project. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import {
  READ_SCHEMA,
  type SchemaProblem,
  type SchemaRow,
  schemaProblem,
} from "../worker/db/schema-number.ts";

const PROJECT = join(import.meta.dirname, "../..");

/** Every command names the project's settings, because wrangler prefers a parent folder's wrangler.json. */
export const CONFIGURATION = join(PROJECT, "wrangler.toml");

/** The port of `wrangler dev` and `npm start`. */
export const DEFAULT_PORT = 8787;

/** Returns the arguments of Node that run wrangler. */
export function wranglerCommand(args: readonly string[]): string[] {
  return [join(PROJECT, "node_modules/wrangler/bin/wrangler.js"), ...args, "--config", CONFIGURATION];
}

/** Runs wrangler to its end. Without standard input wrangler asks no question. `says` has its errors, too. */
export async function runWrangler(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly out: string; readonly says: string }> {
  const child = spawn(process.execPath, wranglerCommand(args), {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => child.kill();
  process.once("exit", kill);
  let [out, says] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    says += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    says += text;
  });
  const code = await new Promise<number | null>((done) => child.once("close", done));
  process.off("exit", kill);
  return { code, out, says: says.trim() };
}

/** Compares the database with the migrations of this version. Throws what wrangler says if it cannot be read. */
export async function askForSchemaProblem(
  where: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<SchemaProblem | undefined> {
  const execute = ["d1", "execute", "DB", ...where, "--json", "--command", READ_SCHEMA];
  const { code, out, says } = await runWrangler(execute, env);
  if (code !== 0) throw new Error(says);
  const [answer]: { readonly results: SchemaRow[] }[] = JSON.parse(out);
  return schemaProblem(answer?.results ?? []);
}

/**
 * Variables for wrangler on this machine. They turn off the Local Explorer, which can read and change D1
 * without a token, the store of traces, which keeps full URLs, and wrangler's own requests.
 */
export const LOCAL_ENV = {
  X_LOCAL_EXPLORER: "false",
  X_LOCAL_OBSERVABILITY: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true", // the banner looks for a newer version
  WRANGLER_WRITE_LOGS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};
