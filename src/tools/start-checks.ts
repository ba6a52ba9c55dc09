/** What `npm start` checks before it starts anything: the port, the state folder, the file of secrets. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { ensureAdminToken } from "../cli/dev-vars.ts";
import { isUsableToken, MIN_ADMIN_TOKEN_CHARS } from "../worker/admin/admin-token.ts";

/** Something that the person at the terminal can correct: shown as one sentence, without a stack. */
export class StartError extends Error {}

export function requireToken(file: string): string {
  const token = ensuredToken(file);
  if (isUsableToken(token)) return token;
  throw new StartError(
    `ADMIN_TOKEN in ${file} needs ${MIN_ADMIN_TOKEN_CHARS} characters or more, and no blanks. Remove the line, and npm start makes a new one.`,
  );
}

function ensuredToken(file: string): string {
  try {
    return ensureAdminToken(file);
  } catch (thrown) {
    throw new StartError(`The file of secrets ${file} cannot be used: ${messageOf(thrown)}`);
  }
}

export async function requireFreePort(port: number): Promise<void> {
  const problem = await portProblem(port);
  if (problem === "EADDRINUSE") {
    throw new StartError(`Port ${port} is taken. Choose another: npm start -- --port ${port + 1}`);
  }
  if (problem === "EACCES") throw new StartError(`Port ${port} may not be used by this user.`);
}

async function portProblem(port: number): Promise<string | undefined> {
  for (const host of ["127.0.0.1", "::1"]) {
    const problem = await new Promise<NodeJS.ErrnoException | null>((done) => {
      const server = createServer();
      server.once("error", done);
      server.listen({ port, host }, () => server.close(() => done(null)));
    });
    if (problem?.code === "EADDRINUSE" || problem?.code === "EACCES") return problem.code;
  }
  return undefined;
}

/**
 * Two services on one state folder would each count the requests of a key separately. The folder has a file with the
 * port of its last service: while that port is taken, the service is still running.
 */
export async function requireUnusedFolder(folder: string, port: number): Promise<void> {
  const file = join(folder, "port");
  const stored = inFolder(folder, () => existsSync(file) && Number(readFileSync(file, "utf8")));
  const last = stored || port;
  if (last !== port && (await portProblem(last)) === "EADDRINUSE") {
    throw new StartError(
      `The state folder ${folder} is in use at http://localhost:${last}. Choose another: npm start -- --port ${port} --persist-to FOLDER`,
    );
  }
  inFolder(folder, () => writeFileSync(file, String(port)));
}

/**
 * A folder that is created is readable by its owner only. One that exists keeps its mode, because it may be one that others
 * use, such as /tmp: wrangler keeps everything in its subfolder `v3`.
 */
export function requireFolder(folder: string): string {
  const data = join(folder, "v3");
  inFolder(folder, () => {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    chmodSync(data, 0o700);
  });
  return folder;
}

function inFolder<T>(folder: string, use: () => T): T {
  try {
    return use();
  } catch (thrown) {
    throw new StartError(`The state folder ${folder} cannot be used: ${messageOf(thrown)}`);
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
