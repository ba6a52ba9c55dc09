/**
 * `store-orders`, the operator's command line, as a function. The command is a client of the admin API.
 *
 * Exit codes: 0 done, 1 refused (also some lines of a file) or unreachable, 2 wrong usage.
 */
import { Command, CommanderError } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { hasKey } from "../worker/key/key.ts";
import { accessFor } from "./access.ts";
import { parseWholeNumber } from "./arguments.ts";
import { addBackupCommand } from "./commands/backup.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addLoadCommand } from "./commands/load-orders.ts";
import { addCallCommands } from "./commands.ts";
import { CliError, type CliIo } from "./io.ts";
import { paint, printable } from "./output.ts";
import type { Connection } from "./session.ts";

/** Another server, or another version of the service, can answer with any JSON. */
const NOT_UNDERSTOOD =
  "The command does not understand the answer. Is it the right address, and of the version of this checkout?";

/** Runs a command and returns its exit code. `argv` has only the arguments, without the program. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const isJson = argv.includes("--json");
  const writeErr = (text: string) => io.stderr.write(printable(text));
  try {
    refuseSecrets(argv, io);
    await createProgram(io, isJson, isJson ? () => {} : writeErr).parseAsync(argv, { from: "user" });
    return 0;
  } catch (caught) {
    const isExpected = caught instanceof CommanderError || caught instanceof CliError;
    const thrown = isExpected ? caught : new CliError(`${NOT_UNDERSTOOD} (${caught})`);
    if (thrown.exitCode === 0) return 0;
    const isUsage = thrown instanceof CommanderError;
    const isHelp = thrown.code === "commander.help";
    const message = isHelp ? "Give a command: see --help." : thrown.message.replace(/^error: /, "");
    const code = isUsage ? "usage" : thrown.code;
    if (isJson) writeErr(`${JSON.stringify({ error: { code, message } })}\n`);
    // commander has written the message of wrong usage itself.
    else if (!isUsage) io.stderr.write(`${paint("error:", io.stderr)} ${printable(message)}\n`);
    return isUsage ? 2 : thrown.exitCode;
  }
}

const HELP = `
A <key> is the id of a key or the beginning of its id, its exact name, or the last four characters of its secret.
The admin token is read from ADMIN_TOKEN; for the local instance, from .dev.vars.`;

export function createProgram(io: CliIo, json: boolean, writeErr: (text: string) => void): Command {
  const program = new Command("store-orders")
    .description("Operates Store Orders: keys, bans, plans, orders.")
    .version(packageJson.version)
    .option("--url <url>", "the service; default: ADMIN_URL, or the local instance")
    .option("--json", "print each answer exactly as the admin API sends it, and an error as JSON")
    .option(
      "--if-version <n>",
      "change a key, plan, order or customer only if it still has this version",
      parseWholeNumber,
    )
    .addHelpText("after", HELP)
    .showHelpAfterError("(--help shows the usage)")
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr })
    .exitOverride();
  const session: Connection = {
    io,
    json,
    get access() {
      const { url, ifVersion } = program.opts<{ url?: string; ifVersion?: number }>();
      return accessFor(url, io.env, ifVersion);
    },
  };
  addCallCommands(program, session);
  addLoadCommand(program, session);
  addBackupCommand(program, session);
  addCompletionCommand(program);
  return program;
}

/** The service accepts no shorter token, and a shorter text could be a part of an ordinary argument. */
const MIN_TOKEN_CHARS = 32;

/** Other users of the machine can see arguments, and errors repeat arguments. */
function refuseSecrets(argv: readonly string[], { env }: CliIo): void {
  const token = env.ADMIN_TOKEN?.trim() ?? "";
  const hasToken = (text: string) => token.length >= MIN_TOKEN_CHARS && text.includes(token);
  if (!argv.some((text) => hasKey(text) || hasToken(text))) return;
  const advice = "*Find* of the console takes a secret; the admin token is read from ADMIN_TOKEN.";
  throw new CliError(`A secret must not be an argument, and was not sent: ${advice}`, { exitCode: 2 });
}
