/** `npm start`: runs the service on this machine until Ctrl-C. The first run makes a token and demo data. */
import { accessSync, constants, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, isIP, isIPv6 } from "node:net";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Command, InvalidArgumentError } from "commander";
import { ensureLocalToken } from "../local/token.ts";
import {
  askForSchemaProblem,
  CONFIGURATION,
  DEFAULT_PORT,
  LOCAL_ENV,
  runWrangler,
} from "../local/wrangler.ts";
import { runCrons } from "./crons.ts";
import { settingProblems } from "./deploy-problems.ts";
import { runTool } from "./run-tool.ts";
import { seedIfEmpty } from "./seed.ts";
import { welcome } from "./welcome.ts";

const ENTRY = join(dirname(CONFIGURATION), "src/worker/index.ts");
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];
/** Addresses that stand for every address of this machine. */
const ANY_ADDRESS = ["0.0.0.0", "::"];

/** What wrangler has read from wrangler.toml and the file of vars. */
type Read = {
  readonly bindings: Readonly<Record<string, { readonly type: string; readonly value?: unknown }>>;
  readonly triggers: readonly { readonly cron: string }[];
};
type Worker = Awaited<ReturnType<typeof import("wrangler")["unstable_startWorker"]>>;
type Options = {
  readonly port: number;
  readonly ip: string;
  readonly persistTo: string;
  readonly varsFile: string;
};

async function start(options: Options): Promise<void> {
  const { port, ip } = options;
  const host = ANY_ADDRESS.includes(ip) ? "localhost" : ip;
  const baseUrl = `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const [folder, varsFile] = [resolve(options.persistTo), resolve(options.varsFile)];
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, stop);
  WRITTEN.forEach(requireWritable);
  console.log("Preparing the database …");
  await lockFolder(folder, options, baseUrl);
  const free = await freePortFrom(port, ip);
  if (free !== port)
    throw new Error(`Port ${port} is taken by another program. Choose another: npm start -- --port ${free}`);
  const token = ensureLocalToken(varsFile);
  await prepareDatabase(folder);

  console.log("Starting the service …");
  const run = () => runWorker(options, folder, varsFile);
  const output = holdOutput();
  let worker: Worker;
  try {
    worker = await run();
    const { bindings, triggers } = worker.config as unknown as Read; // which its types leave open
    const keys = await seedIfEmpty(baseUrl, token, (sql) => execute(folder, sql));
    const problems = settingProblems(varsOf(bindings));
    output.release(welcome(baseUrl, varsFile, keys, problems, !LOOPBACK.includes(ip)));
    const crons = triggers.map(({ cron }) => cron);
    runCrons(baseUrl, crons);
  } catch (thrown) {
    output.releaseAll();
    throw thrown;
  }
  await watchOver(baseUrl, worker, run);
}

/** wrangler bundles beside its settings, wherever the data is kept, and the build makes the pages. */
const WRITTEN = [".wrangler", "dist"].map((name) => join(dirname(CONFIGURATION), name));

function requireWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch {
    throw new Error(`npm start writes into ${folder}, which this user cannot write.`);
  }
}

/** The runtime ends together with this process. */
function stop(): never {
  process.stderr.write("\nStore Orders has stopped.\n");
  process.exit(0);
}

/** Two services on one folder would each count a key's requests. SQLite's lock ends with the process. */
async function lockFolder(folder: string, { port, ip }: Options, baseUrl: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [lock, holder] = [new DatabaseSync(join(folder, "lock.sqlite")), join(folder, "lock.json")];
  try {
    lock.exec("begin exclusive");
  } catch {
    const { pid, url } = JSON.parse(readFileSync(holder, "utf8"));
    const other = await freePortFrom(port, ip);
    throw new Error(
      `Store Orders runs already, at ${url}, with the data in ${folder}. To stop it: kill ${pid}\nTo start another one with other data: npm start -- --port ${other} --persist-to ${folder}-${other}`,
    );
  }
  writeFileSync(holder, JSON.stringify({ pid: process.pid, url: baseUrl }));
  process.once("exit", () => lock.close());
}

/** Returns `port`, or the next port that no program uses. */
async function freePortFrom(port: number, ip: string): Promise<number> {
  const server = createServer();
  const problem = await new Promise<NodeJS.ErrnoException | undefined>((done) => {
    server.once("error", done);
    server.listen({ port, host: ip }, () => server.close(() => done(undefined)));
  });
  if (problem === undefined) return port;
  if (problem.code === "EADDRNOTAVAIL") throw new Error(`This machine does not have the address ${ip}.`);
  if (problem.code !== "EADDRINUSE") throw problem;
  return freePortFrom(port + 1, ip);
}

function whereIn(folder: string): string[] {
  return ["--env=", "--local", "--persist-to", folder];
}

async function prepareDatabase(folder: string): Promise<void> {
  const where = whereIn(folder);
  const advice = "To start with a new one, move the folder away.";
  const problem = await askForSchemaProblem(where, LOCAL_ENV).catch(({ message }: Error) => {
    throw new Error(`${message}\n\nThe database in ${folder} could not be read. ${advice}`);
  });
  if (problem === undefined) return;
  if (problem.kind === "oldest" || problem.kind === "newer")
    throw new Error(`${problem.says}\nThe database is in ${folder}. ${advice}`);
  if (problem.kind === "older") console.log("Bringing the database to this version …");
  const { code, says } = await runWrangler(["d1", "migrations", "apply", "DB", ...where], LOCAL_ENV);
  if (code !== 0) throw new Error(`${says}\n\nThe database in ${folder} could not be migrated. ${advice}`);
}

/** SQLite's locks let a second process write beside the service. */
async function execute(folder: string, sql: string): Promise<void> {
  const file = join(folder, "demo.sql");
  writeFileSync(file, sql);
  const { code, says } = await runWrangler(
    ["d1", "execute", "DB", ...whereIn(folder), "--file", file],
    LOCAL_ENV,
  );
  rmSync(file);
  if (code !== 0) throw new Error(`The demo data could not be loaded: ${says}`);
}

/** How long the restarted runtime may take for an answer. */
const PATIENCE_MS = 10_000;

/**
 * If the runtime that holds the port ends, wrangler's restart takes connections and answers none
 * (workers-sdk#14926 is its neighbour), so the service starts anew. Only then: while somebody edits the Worker, a
 * source that cannot be built is not answered either.
 */
async function watchOver(baseUrl: string, worker: Worker, run: () => Promise<Worker>): Promise<never> {
  for (let current = worker; ; ) {
    await untilCrash();
    // A file is answered without the Worker, which would log the request.
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const isAnswered = await fetch(`${baseUrl}/console/console.css`, { signal }).then(
      () => true,
      () => false,
    );
    if (isAnswered) continue;
    console.error("The service does not answer. Starting it anew …");
    const output = holdOutput();
    await current.dispose();
    current = await run();
    output.release("The service runs again.\n");
  }
}

/** Resolves once wrangler says that a runtime has ended. */
function untilCrash(): Promise<void> {
  const write = process.stdout.write;
  return new Promise((done) => {
    process.stdout.write = (text) => {
      if (String(text).includes("runtime crashed")) {
        process.stdout.write = write;
        done();
      }
      return write.call(process.stdout, text);
    };
  });
}

/** Like `wrangler dev`, but without the inspector, where any program on the machine could read the token. */
async function runWorker({ port, ip }: Options, persist: string, varsFile: string): Promise<Worker> {
  Object.assign(process.env, LOCAL_ENV);
  const { unstable_startWorker: startWorker } = await import("wrangler");
  const worker = await startWorker({
    config: CONFIGURATION,
    env: "",
    envFiles: [varsFile],
    // wrangler.toml has the name of production.
    bindings: { ENVIRONMENT_NAME: { type: "plain_text", value: "local" } },
    // One file that is not minified, so that the stacks in the log have names.
    entrypoint: ENTRY,
    build: { bundle: true, minify: false, findAdditionalModules: false, moduleRoot: dirname(ENTRY) },
    dev: {
      remote: false,
      server: { port, hostname: ip },
      inferOriginFromRoutes: false, // or the Worker would take the domain in `routes` for its own address
      persist,
      inspector: false,
      logLevel: "log",
    },
  });
  await worker.ready;
  return worker;
}

function varsOf(bindings: Read["bindings"]): Readonly<Record<string, unknown>> {
  const vars = Object.entries(bindings).filter(([, { type }]) =>
    /^(plain_text|secret_text|json)$/.test(type),
  );
  return Object.fromEntries(vars.map(([name, { value }]) => [name, value]));
}

/**
 * Holds back wrangler's standard output. The lines of the start are shown only if the first start fails. The
 * lines of requests are dropped, because the Worker logs each request itself.
 */
function holdOutput(): { release: (text: string) => void; releaseAll: () => void } {
  const write = process.stdout.write.bind(process.stdout);
  let held = "";
  process.stdout.write = (text) => {
    held += text;
    return true;
  };
  return {
    release(text) {
      write(text);
      process.stdout.write = (line) => String(line).startsWith("[wrangler:info]") || write(line);
    },
    releaseAll() {
      process.stdout.write = write;
      write(held);
    },
  };
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("must be from 1 to 65535.");
}

function parseIp(text: string): string {
  if (text === "localhost" || isIP(text) > 0) return text;
  throw new InvalidArgumentError("must be an IP address of this machine.");
}

await runTool(
  new Command("npm start --")
    .description("Runs the service on this machine, with demo data on the first start.")
    .option("--port <number>", "where to listen", parsePort, DEFAULT_PORT)
    .option(
      "--ip <address>",
      "on which address; 0.0.0.0 is for a container whose port is published",
      parseIp,
      "localhost",
    )
    .option("--persist-to <folder>", "where the data is kept", ".wrangler/state")
    .option("--vars-file <file>", "where ADMIN_TOKEN is kept; made if missing", ".dev.vars")
    .action(start),
);
