/** `npm start`: everything a first run needs, then the service on this machine until Ctrl-C. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import {
  type Access,
  type AdminClient,
  AdminFailure,
  adminClient,
  failureOf,
  postOrders,
} from "../cli/admin-client.ts";
import { DEV_VARS, ensureAdminToken } from "../cli/dev-vars.ts";
import { isUsableToken, MIN_ADMIN_TOKEN_CHARS } from "../worker/admin/admin-token.ts";
import { DEMO_KEYS, demoOrders } from "./demo-data.ts";
import { PROJECT_FOLDER, runWrangler, type Wrangler } from "./wrangler.ts";

/** The service is up within some 5 s on two cores; a slow machine gets a minute. */
const READY_WITHIN_MS = 60_000;
const DEFAULT_PORT = 8787;
const STOPPED_WITHIN_MS = 5_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

type Options = { port: number; persistTo: string; varsFile: string };

/** After Ctrl-C whatever fails has failed for that. */
let isInterrupted = false;

/** Something the person at the terminal can put right: told in a sentence, without a stack. */
class StartError extends Error {}

async function start(options: Options): Promise<void> {
  const { port } = options;
  await requireFreePort(port);
  const folder = requireFolder(resolve(options.persistTo));
  await requireOwn(folder, port);
  const varsFile = resolve(options.varsFile);
  const access = {
    baseUrl: `http://localhost:${port}`,
    token: requireToken(varsFile),
    operator: "npm start",
  };
  await applyMigrations(folder);

  const wrangler = runWrangler([
    "dev",
    ...["--port", String(port), "--inspector-port", "0", "--persist-to", folder, "--env-file", varsFile],
    "--show-interactive-dev-session=false",
  ]);
  const ended = runToEnd(wrangler);
  try {
    const client = adminClient(access);
    await untilReady(wrangler, client);
    console.log(welcome(port, await seedIfEmpty(client, access)));
  } catch (thrown) {
    wrangler.stop();
    await ended;
    if (isInterrupted) return;
    throw thrown;
  }
  wrangler.child.stdout?.pipe(process.stdout);
  wrangler.child.stderr?.pipe(process.stderr);
  process.exitCode = await ended;
}

function requireToken(file: string): string {
  const token = ensuredToken(file);
  if (isUsableToken(token)) return token;
  throw new StartError(
    `ADMIN_TOKEN in ${file} needs ${MIN_ADMIN_TOKEN_CHARS} characters at least, and no blanks. Without that line a good one is made.`,
  );
}

function ensuredToken(file: string): string {
  try {
    return ensureAdminToken(file);
  } catch (thrown) {
    throw new StartError(`The file of secrets ${file} cannot be used: ${messageOf(thrown)}`);
  }
}

async function requireFreePort(port: number): Promise<void> {
  const problem = await whyNotFree(port);
  if (problem === "EADDRINUSE") {
    throw new StartError(`Port ${port} is taken. Choose another: npm start -- --port ${port + 1}`);
  }
  if (problem === "EACCES") throw new StartError(`Port ${port} may not be used by this user.`);
}

async function whyNotFree(port: number): Promise<string | undefined> {
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
 * Two services on one folder would each count a key's requests for themselves. The folder names the port of the last
 * one: as long as that is taken, it is still there.
 */
async function requireOwn(folder: string, port: number): Promise<void> {
  const file = join(folder, "port");
  const known = inFolder(folder, () => existsSync(file) && Number(readFileSync(file, "utf8")));
  const last = known || port;
  if (last !== port && (await whyNotFree(last)) === "EADDRINUSE") {
    throw new StartError(
      `The state folder ${folder} is in use at http://localhost:${last}. Choose another: npm start -- --port ${port} --persist-to FOLDER`,
    );
  }
  inFolder(folder, () => writeFileSync(file, String(port)));
}

function requireFolder(folder: string): string {
  inFolder(folder, () => mkdirSync(folder, { recursive: true }));
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

async function applyMigrations(folder: string): Promise<void> {
  const wrangler = runWrangler(["d1", "migrations", "apply", "DB", "--local", "--persist-to", folder]);
  if ((await runToEnd(wrangler)) === 0) return;
  throw new StartError(
    `The database in ${folder} could not be brought up to date. To start afresh, move the folder away.\n\n${wrangler.output().trim()}`,
  );
}

/** The exit code, once wrangler is gone. A signal to this process ends it with everything it started, and then this process. */
async function runToEnd(wrangler: Wrangler): Promise<number> {
  const stop = () => {
    isInterrupted = true;
    wrangler.stop();
    setTimeout(() => wrangler.stop("SIGKILL"), STOPPED_WITHIN_MS).unref();
    void wrangler.exited.then(() => process.exit(0));
  };
  const killRest = () => wrangler.stop("SIGKILL");
  for (const signal of SIGNALS) process.on(signal, stop);
  process.on("exit", killRest);
  const code = await wrangler.exited;
  killRest();
  for (const signal of SIGNALS) process.off(signal, stop);
  process.off("exit", killRest);
  return code;
}

async function untilReady(wrangler: Wrangler, client: AdminClient): Promise<void> {
  let gone = false;
  void wrangler.exited.then(() => {
    gone = true;
  });
  for (const deadlineMs = Date.now() + READY_WITHIN_MS; Date.now() < deadlineMs && !gone; ) {
    const response = await client.plans.$get().catch(() => undefined);
    if (response?.ok) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new StartError(`The service did not come up.\n\n${wrangler.output().trim()}`);
}

type ShownKey = { name: string; key: string; limits: { requestsPerMinute: number; requestsPerDay: number } };

/** Through the operator's own surface. Keys are never deleted, so a database without any is one never used. */
async function seedIfEmpty(client: AdminClient, access: Access): Promise<ShownKey[]> {
  const known = await client.keys.$get({ query: { limit: "1" } });
  if (!known.ok) throw await failureOf(known);
  if ((await known.json()).keys.length > 0) return [];

  const lines = demoOrders(Date.now()).map((order) => JSON.stringify(order));
  const loaded = await postOrders(access, lines.join("\n"));
  if (!loaded.ok) throw await failureOf(loaded);

  const keys: ShownKey[] = [];
  for (const json of DEMO_KEYS) {
    const created = await client.keys.$post({ json });
    if (!created.ok) throw await failureOf(created);
    keys.push(await created.json());
  }
  return keys;
}

function welcome(port: number, keys: readonly ShownKey[]): string {
  const baseUrl = `http://localhost:${port}`;
  const [first] = keys;
  const lines = [`Store Orders is running: ${baseUrl}/v1`, `Documentation:           ${baseUrl}/docs`, ""];
  if (first) {
    lines.push("250 demo orders are loaded. The demo keys, shown only now:", "");
    for (const { name, key, limits } of keys) {
      lines.push(
        `  ${name.padEnd(16)} ${key}   ${limits.requestsPerMinute} a minute, ${limits.requestsPerDay} a day`,
      );
    }
    lines.push(
      "",
      "Try:",
      "",
      `  curl -i -H "Authorization: Bearer ${first.key}" ${baseUrl}/v1/store/orders`,
    );
  } else {
    lines.push(
      "The data of the last run is still there. Its keys were shown when they were made; another one:",
      "",
      `  npm run -s admin --${port === DEFAULT_PORT ? "" : ` --url ${baseUrl}`} keys create --name mine --plan free`,
    );
  }
  return [...lines, "", "Ctrl-C stops it.", ""].join("\n");
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new InvalidArgumentError("must be from 1 to 65535.");
  return port;
}

const program = new Command("npm start --")
  .description("Runs the service on this machine, with demo data on the first start.")
  .option("--port <number>", "where to listen", parsePort, DEFAULT_PORT)
  .option("--persist-to <folder>", "where the data is kept", resolve(PROJECT_FOLDER, ".wrangler/state"))
  .option("--vars-file <file>", "where ADMIN_TOKEN is kept; made where it is not", DEV_VARS)
  .exitOverride((refused) => process.exit(refused.exitCode === 0 ? 0 : 2))
  .action(async (options: Options) => {
    try {
      await start(options);
    } catch (thrown) {
      if (!(thrown instanceof StartError || thrown instanceof AdminFailure)) throw thrown;
      console.error(`\n${thrown.message}\n`);
      process.exitCode = 1;
    }
  });

await program.parseAsync();
