/** `.dev.vars`: the secrets of the local instance. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

export const DEV_VARS = join(import.meta.dirname, "..", "..", ".dev.vars");

export function readAdminToken(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  return parseEnv(readFileSync(file, "utf8")).ADMIN_TOKEN || undefined;
}
