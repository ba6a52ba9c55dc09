/** How the tools run the project's wrangler. */
import { join } from "node:path";

const PROJECT = join(import.meta.dirname, "../..");

/** The project's settings, in every command: otherwise wrangler prefers a wrangler.json of any parent folder. */
export const CONFIGURATION = join(PROJECT, "wrangler.toml");

/** The port of `wrangler dev` and `npm start`. */
export const DEFAULT_PORT = 8787;

/** Arguments of Node that run wrangler. */
export function wranglerCommand(args: readonly string[]): string[] {
  return [join(PROJECT, "node_modules/wrangler/bin/wrangler.js"), ...args, "--config", CONFIGURATION];
}

/**
 * Variables for wrangler on this machine. They turn off the Local Explorer, which reads and changes D1 without
 * a token, the store of traces, which keeps full URLs, and requests of wrangler's own.
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
