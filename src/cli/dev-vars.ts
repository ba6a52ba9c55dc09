/** `.dev.vars`: the secrets of the local instance. */
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

export const DEV_VARS = join(import.meta.dirname, "../../.dev.vars");

export function readAdminToken(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  return parseEnv(readFileSync(file, "utf8")).ADMIN_TOKEN || undefined;
}

/**
 * The admin token of the local instance. Adds a random one if the file has none, and keeps its other lines. Afterwards
 * only the owner can read the file.
 */
export function ensureAdminToken(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  // A folder would lose its x bit, and a device such as /dev/null is used by other programs.
  if (found && !found.isFile()) throw new Error("it is not a regular file");
  if (found && (found.mode & 0o077) !== 0) chmodSync(file, 0o600);
  const known = readAdminToken(file);
  if (known !== undefined) return known;
  const line = `ADMIN_TOKEN=${randomBytes(32).toString("base64url")}\n`;
  if (!found) {
    createWhole(file, line);
    // Another user may have made it meanwhile.
    return ensureAdminToken(file);
  }
  appendFileSync(file, /[^\n]$/.test(readFileSync(file, "utf8")) ? `\n${line}` : line);
  const token = readAdminToken(file);
  if (token === undefined) throw new Error("no ADMIN_TOKEN can be written to it");
  return token;
}

/** Unless the file exists by now: another start at the same moment reads either nothing or the whole file. */
function createWhole(file: string, text: string): void {
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, file);
  } catch (thrown) {
    if (!existsSync(file)) throw thrown;
  } finally {
    rmSync(draft);
  }
}
