/** `.dev.vars`: the secrets of the local instance. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_FOLDER } from "./wrangler.ts";

const FILE = join(PROJECT_FOLDER, ".dev.vars");

export function readAdminToken(): string | undefined {
  if (!existsSync(FILE)) return undefined;
  return /^\s*ADMIN_TOKEN\s*=\s*["']?([^"'\s]+)["']?\s*$/m.exec(readFileSync(FILE, "utf8"))?.[1];
}

/** The token of the local instance; a random one is added where there is none, and nothing else in the file changes. */
export function ensureAdminToken(): string {
  const known = readAdminToken();
  if (known !== undefined) return known;
  const token = randomBytes(32).toString("base64url");
  const before = existsSync(FILE) ? readFileSync(FILE, "utf8").replace(/\n?$/, "\n") : "";
  writeFileSync(FILE, `${before}ADMIN_TOKEN=${token}\n`, { mode: 0o600 });
  return token;
}
