/** The admin token of the local service, in `.dev.vars` or a file like it. */
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

const MIN_TOKEN_CHARS = 32;

/** Adds a random token if the file has none, and keeps its other lines. A new file is readable by its owner only. */
export function ensureLocalToken(file: string): string {
  if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600, flag: "wx" });
  const text = readFileSync(file, "utf8");
  const known = parseEnv(text).ADMIN_TOKEN;
  if (known === undefined) {
    const token = randomBytes(32).toString("base64url");
    appendFileSync(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}ADMIN_TOKEN=${token}\n`);
    return token;
  }
  if (known.length >= MIN_TOKEN_CHARS) return known;
  throw new Error(
    `ADMIN_TOKEN in ${file} needs ${MIN_TOKEN_CHARS} characters or more. Remove the line, and npm start writes a new one.`,
  );
}
