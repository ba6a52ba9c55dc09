/** The admin token of the local service, in `.dev.vars` or a file like it. */
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { decodeByMark } from "../worker/text/text.ts";

/** The secrets of the local instance. Other instances have no such file. */
export const DEV_VARS = join(import.meta.dirname, "..", "..", ".dev.vars");

const MIN_TOKEN_CHARS = 32;

/** A line with a token. The token may have quotes, and a comment may follow. */
const TOKEN_LINE = /^[^\S\n]*(?:export\s+)?(ADMIN_(?:READ_)?TOKEN)[^\S\n]*[=:](.*)$/gm;
/** A value without characters that have a meaning: wrangler expands `$`, and `#` begins a comment. */
const AS_IT_STANDS = /^(["']?)(?:(?!["'`$#\\])[\x21-\x7e])*\1(?:\s+#.*)?$/;

/**
 * Adds a random token if the file has none, and keeps the other lines. Only the owner can read a new file.
 * Throws if a token is short, or if the service would read another token from the line.
 */
export function ensureLocalToken(file: string): string {
  if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600, flag: "wx" });
  const [bytes, text] = [readFileSync(file), textOf(file)];
  // wrangler reads UTF-8 only, and PowerShell 5 writes UTF-16.
  if (text !== bytes.toString()) writeFileSync(file, text);
  for (const [, name, value = ""] of text.matchAll(TOKEN_LINE)) {
    if (AS_IT_STANDS.test(value.trim())) continue;
    throw new Error(
      `${name} in ${file} has a blank, a quotation mark, a backslash, a letter beyond A to Z, $ or #, which do not stand for themselves in such a file. Choose another token, or remove the line of ADMIN_TOKEN, and npm start writes a new one.`,
    );
  }
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

export function readAdminToken(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  return parseEnv(textOf(file)).ADMIN_TOKEN || undefined;
}

function textOf(file: string): string {
  return decodeByMark(readFileSync(file));
}
