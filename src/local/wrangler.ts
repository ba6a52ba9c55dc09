/** Runs the wrangler of the project. */
import { join } from "node:path";

const PROJECT = join(import.meta.dirname, "../..");

/** Every command names the project's settings, because wrangler prefers a parent folder's wrangler.json. */
export const CONFIGURATION = join(PROJECT, "wrangler.toml");

/** The port of `wrangler dev` and `npm start`. */
export const DEFAULT_PORT = 8787;

/** Returns the arguments of Node that run wrangler. */
export function wranglerCommand(args: readonly string[]): string[] {
  return [join(PROJECT, "node_modules/wrangler/bin/wrangler.js"), ...args, "--config", CONFIGURATION];
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
