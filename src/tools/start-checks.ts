/** What `npm start` checks before it starts anything: the port, the file of secrets and the temporary folder. */
import { accessSync, constants } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { ensureAdminToken } from "../cli/dev-vars.ts";
import { ADMIN_TOKEN_RULE, isUsableToken } from "../worker/admin/admin-token.ts";
import { messageOf, StartError } from "./start-error.ts";

const MIN_PORT = 1_024;
const MAX_PORT = 65_535;

export function requireToken(file: string): string {
  const token = ensuredToken(file);
  // wrangler would replace these by what they stand for, and the service would have another token.
  if (/\$[A-Za-z_{]|\\\$/.test(token))
    throw new StartError(
      `ADMIN_TOKEN in ${file} may have no $ before a letter, _ or {, and none after a backslash. Remove the line, and npm start makes a new one.`,
    );
  if (isUsableToken(token)) return token;
  throw new StartError(
    `ADMIN_TOKEN in ${file} needs ${ADMIN_TOKEN_RULE}. Remove the line, and npm start makes a new one.`,
  );
}

function ensuredToken(file: string): string {
  try {
    return ensureAdminToken(file);
  } catch (thrown) {
    throw new StartError(`The file of secrets ${file} cannot be used: ${messageOf(thrown)}`);
  }
}

/** wrangler needs it, and its own error would look like one of the database. */
export function requireTemporaryFolder(): void {
  try {
    accessSync(tmpdir(), constants.W_OK | constants.X_OK);
  } catch (thrown) {
    throw new StartError(`The folder for temporary files (TMPDIR) cannot be used: ${messageOf(thrown)}`);
  }
}

/** `commandFor` returns the command that starts this service on another port. */
export async function requireFreePort(port: number, commandFor: (port: number) => string): Promise<void> {
  const problem = await portProblem(port);
  if (problem === undefined) return;
  const command = commandFor(await freePortFrom(port + 1));
  throw new StartError(
    problem === "EADDRINUSE"
      ? `Port ${port} is taken by another program. Choose another: ${command}`
      : `Port ${port} may not be used by this user. Choose another: ${command}`,
  );
}

/** The first free port from this one on, and after the last one from the first that needs no rights of its own. */
export async function freePortFrom(first: number): Promise<number> {
  for (let tried = 0; tried <= MAX_PORT - MIN_PORT; tried++) {
    const port = MIN_PORT + ((Math.max(first, MIN_PORT) - MIN_PORT + tried) % (MAX_PORT - MIN_PORT + 1));
    if ((await portProblem(port)) === undefined) return port;
  }
  throw new StartError("No port is free.");
}

async function portProblem(port: number): Promise<"EADDRINUSE" | "EACCES" | undefined> {
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
