/** `.dev.vars`: the secrets of the local instance. */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { PROJECT_FOLDER } from "../tools/wrangler.ts";

export const DEV_VARS = join(PROJECT_FOLDER, ".dev.vars");

export function readAdminToken(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  return parseEnv(readFileSync(file, "utf8")).ADMIN_TOKEN?.trim() || undefined;
}

/**
 * The admin token of the local instance. Adds a random one if the file has none, and keeps its other lines. Afterwards
 * only the owner can read the file.
 */
export function ensureAdminToken(file: string): string {
  if (existsSync(file) && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  const known = readAdminToken(file);
  if (known !== undefined) return known;
  const token = randomBytes(32).toString("base64url");
  const before = existsSync(file) ? readFileSync(file, "utf8").replace(/([^\n])$/, "$1\n") : "";
  writeFileSync(file, `${before}ADMIN_TOKEN=${token}\n`, { mode: 0o600 });
  return token;
}
