/** `npm start`: runs the service on this machine until Ctrl-C; on the first run with a token, a database and demo data. */
import { resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import {
  type Access,
  type AdminClient,
  AdminFailure,
  adminClient,
  failureOf,
  postOrders,
} from "../cli/admin-client.ts";
import { DEV_VARS } from "../cli/dev-vars.ts";
import { reachLoopbackDirectly } from "../cli/no-proxy.ts";
import { correctionOf } from "../cli/npm-options.ts";
import { printable } from "../cli/printable.ts";
import { shellWord, typedFolder } from "../cli/shell.ts";
import { withoutValues } from "../cli/typed-values.ts";
import { DEMO_KEYS, demoOrders } from "./demo-data.ts";
import { endWithNpm } from "./end-with-npm.ts";
import { freePortFrom, requireFreePort, requireTemporaryFolder, requireToken } from "./start-checks.ts";
import { StartError } from "./start-error.ts";
import { describeHolder, lockFolder, recordWrangler, requireFolder, unlockFolder } from "./state-folder.ts";
import { untilReady } from "./until-ready.ts";
import { PROJECT_FOLDER, runDevServer, runWrangler, type Wrangler } from "./wrangler.ts";

const DEFAULT_PORT = 8787;
const DEFAULT_STATE = resolve(PROJECT_FOLDER, ".wrangler/state");
const MAX_STOP_MS = 5_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

type Options = { port: number; persistTo: string; varsFile: string };

/** After Ctrl-C, errors are its consequence and are not shown. */
let isInterrupted = false;

async function start(options: Options): Promise<void> {
  const { port, persistTo: folder, varsFile } = options;
  requireTemporaryFolder();
  requireFolder(folder);
  const holder = await lockFolder(folder, port);
  if (holder !== undefined) {
    const free = await freePortFrom(port);
    const beside = { ...options, port: free, persistTo: `${folder}-${free}` };
    throw new StartError(describeHolder(folder, holder, startCommand(beside)));
  }
  process.on("exit", () => unlockFolder(folder));
  await requireFreePort(port, (free) => startCommand({ ...options, port: free }));
  const access = {
    baseUrl: `http://localhost:${port}`,
    token: requireToken(varsFile),
    operator: "npm start",
  };
  await applyMigrations(options);

  const { wrangler, ended } = runUntilSignal(options, () => runDevServer(options));
  try {
    const client = adminClient(access);
    await untilReady(wrangler, client, varsFile);
    console.log(welcome(options, await seedIfEmpty(client, access)));
  } catch (thrown) {
    wrangler.stop();
    await ended;
    if (isInterrupted) return;
    throw thrown;
  }
  wrangler.child.stdout?.pipe(process.stdout);
  wrangler.child.stderr?.pipe(process.stderr);
  process.exitCode = await ended;
  if (process.exitCode !== 0 && !isInterrupted) console.error("\nThe service has ended.\n");
}

async function applyMigrations(options: Options): Promise<void> {
  const folder = options.persistTo;
  const { wrangler, ended } = runUntilSignal(options, () =>
    runWrangler(["d1", "migrations", "apply", "DB", "--env=", "--local", "--persist-to", folder]),
  );
  if ((await ended) === 0) return;
  throw new StartError(
    `The database in ${folder} could not be migrated. To start with a new one, move the folder away.\n\n${wrangler.output().trim()}`,
  );
}

/** A signal to this process ends wrangler with all its processes, and then this process. `ended` is wrangler's exit code. */
function runUntilSignal(
  { persistTo, port }: Options,
  run: () => Wrangler,
): { wrangler: Wrangler; ended: Promise<number> } {
  let wrangler: Wrangler | undefined;
  const stop = () => {
    isInterrupted = true;
    wrangler?.stop();
    setTimeout(() => wrangler?.stop("SIGKILL"), MAX_STOP_MS).unref();
    void wrangler?.exited.then(() => process.exit(0));
  };
  const killRest = () => wrangler?.stop("SIGKILL");
  // Before wrangler is spawned: the default action of a signal would leave it running, as it has its own process group.
  for (const signal of SIGNALS) process.on(signal, stop);
  process.on("exit", killRest);
  const started = run();
  wrangler = started;
  try {
    recordWrangler(persistTo, port, started.child.pid);
  } catch (thrown) {
    killRest();
    throw thrown;
  }
  const ended = started.exited.then((code) => {
    killRest();
    for (const signal of SIGNALS) process.off(signal, stop);
    process.off("exit", killRest);
    return code;
  });
  return { wrangler: started, ended };
}

type ShownKey = { name: string; key: string; limits: { requestsPerMinute: number; requestsPerDay: number } };

/** Through the admin API. Keys are never deleted, so a database without keys is a new one. */
async function seedIfEmpty(client: AdminClient, access: Access): Promise<ShownKey[]> {
  const existing = await client.keys.$get({ query: { limit: "1" } });
  if (!existing.ok) throw await failureOf(existing);
  if ((await existing.json()).keys.length > 0) return [];

  const lines = demoOrders(Date.now()).map((order) => JSON.stringify(order));
  const loaded = await postOrders(access, { file: "demo data" }, lines.join("\n"));
  if (!loaded.ok) throw await failureOf(loaded);

  const keys: ShownKey[] = [];
  for (const json of DEMO_KEYS) {
    const created = await client.keys.$post({ json });
    if (!created.ok) throw await failureOf(created);
    keys.push(await created.json());
  }
  return keys;
}

function welcome({ port, varsFile }: Options, keys: readonly ShownKey[]): string {
  const baseUrl = `http://localhost:${port}`;
  const [first] = keys;
  const lines = [
    `Store Orders is running: ${baseUrl}/v1`,
    `Documentation:           ${baseUrl}/docs`,
    `Console:                 ${baseUrl}/console`,
    `Admin token:             in ${varsFile}`,
    "",
  ];
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
      "The data of the last run is kept. Its keys were shown when they were created. To create another one:",
      "",
      `  npm run -s admin --${port === DEFAULT_PORT ? "" : ` --url ${baseUrl}`} keys create --name mine --plan free`,
    );
  }
  return [...lines, "", "Ctrl-C stops it.", ""].join("\n");
}

/** The command that starts with these options. */
function startCommand({ port, persistTo, varsFile }: Options): string {
  return [
    `npm start -- --port ${port}`,
    ...(persistTo === DEFAULT_STATE ? [] : [`--persist-to ${shellWord(persistTo)}`]),
    ...(varsFile === DEV_VARS ? [] : [`--vars-file ${shellWord(varsFile)}`]),
  ].join(" ");
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new InvalidArgumentError("must be from 1 to 65535.");
  return port;
}

function inTypedFolder(path: string): string {
  return resolve(typedFolder(process.env), path);
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // The reader of a pipe, such as `head`, can end first.
    if (error.code === "EPIPE") {
      process.kill(process.pid, "SIGTERM");
      return;
    }
    console.error(`\nThe output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
}

const program = new Command("npm start --")
  .description("Runs the service on this machine, with demo data on the first start.")
  .option("--port <number>", "where to listen", parsePort, DEFAULT_PORT)
  .option("--persist-to <folder>", "where the data is kept", inTypedFolder, DEFAULT_STATE)
  .option(
    "--vars-file <file>",
    "where ADMIN_TOKEN is kept; created if it does not exist",
    inTypedFolder,
    DEV_VARS,
  )
  .configureOutput({
    writeErr: (text) => process.stderr.write(printable(withoutValues(text, process.argv.slice(2)))),
  })
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

const correction = correctionOf(program, process.argv.slice(2), process.env, {
  names: ["start"],
  typed: "npm start",
});
if (correction !== undefined) {
  console.error(`\n${correction}\n`);
  process.exit(2);
}
endWithNpm("start");
reachLoopbackDirectly(process.env);
await program.parseAsync();
