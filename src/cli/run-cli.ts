/**
 * `store-orders`, the operator's command line, as a function: a client of the admin API.
 *
 * Exit codes: 0 done; 1 refused by the service or unreachable, or lines of a file refused; 2 wrong usage.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, CommanderError, Option } from "commander";
import { accessFor } from "./access.ts";
import { adminClient } from "./admin-client.ts";
import { wholeNumber } from "./arguments.ts";
import { addAuditCommand } from "./commands/audit.ts";
import { addBanCommands } from "./commands/bans.ts";
import { addKeyCommands } from "./commands/keys.ts";
import { addOrderCommands } from "./commands/orders.ts";
import { addPlanCommands } from "./commands/plans.ts";
import { addSmokeCommand } from "./commands/smoke.ts";
import { addUsageCommand } from "./commands/usage.ts";
import { CliError, type CliIo } from "./io.ts";
import { printable } from "./output.ts";
import type { Session } from "./session.ts";

type GlobalOptions = { url?: string; json?: true; csv?: true; ifVersion?: number };

/** Runs one command and returns its exit code. `argv` has the arguments only, without the program. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const writeError = (text: string) => io.stderr.write(printable(withoutSecrets(text, io.env)));
  try {
    await createProgram(io, writeError).parseAsync(argv, { from: "user" });
    return 0;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    if (!(thrown instanceof CliError)) throw thrown;
    writeError(`error: ${thrown.message}\n`);
    return thrown.exitCode;
  }
}

function createProgram(io: CliIo, writeErr: (text: string) => void): Command {
  const program = new Command("store-orders")
    .description("Operates Store Orders: keys, bans, plans, orders.")
    .version(packageVersion())
    .option("--url <url>", "the service; default: ADMIN_URL, or the local instance")
    .option("--json", "print each answer exactly as the admin API sends it")
    .option("--if-version <n>", "change a key, plan or order only if it still has this version", wholeNumber)
    .addOption(new Option("--csv", "print a list as CSV, with every column").conflicts("json"))
    .hook("preAction", (_, command) => {
      if (program.opts<GlobalOptions>().csv && !LISTS.includes(command.name())) {
        throw new CliError("--csv is for lists: this command prints none.", { exitCode: 2 });
      }
    })
    .addHelpText(
      "after",
      "\nThe admin token is read from ADMIN_TOKEN; for the local instance, from .dev.vars.",
    )
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr })
    .exitOverride();

  let opened: Session | undefined;
  const session = () => {
    opened ??= openSession(program.opts<GlobalOptions>(), io);
    return opened;
  };
  addKeyCommands(program, session);
  addUsageCommand(program, session);
  addBanCommands(program, session);
  addPlanCommands(program, session);
  addOrderCommands(program, session);
  addAuditCommand(program, session);
  addSmokeCommand(program, session);
  nameHelpAfterErrors(program, program.name());
  return program;
}

const LISTS = ["list", "usage", "cancelled", "audit", "history"];

function openSession({ url, json, csv, ifVersion }: GlobalOptions, io: CliIo): Session {
  const { baseUrl, headers } = accessFor(url, io.env);
  const precondition = ifVersion === undefined ? {} : { "If-Match": `"${ifVersion}"` };
  const access = { baseUrl, headers: { ...headers, ...precondition } };
  return { client: adminClient(access), access, json: json ?? false, csv: csv ?? false, io };
}

function nameHelpAfterErrors(command: Command, path: string): void {
  command.showHelpAfterError(`(see ${path} --help)`);
  for (const each of command.commands) nameHelpAfterErrors(each, `${path} ${each.name()}`);
}

function packageVersion(): string {
  const text = readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8");
  return JSON.parse(text).version;
}

/** The service takes no shorter token, and a short text is a part of many words. */
const MIN_TOKEN_CHARS = 32;

/** Errors repeat what was typed, which can be a key or the token in the wrong place. */
function withoutSecrets(text: string, { ADMIN_TOKEN }: CliIo["env"]): string {
  const shown = text.replace(/sok_\w+/g, "sok_…");
  const token = ADMIN_TOKEN?.trim() ?? "";
  return token.length >= MIN_TOKEN_CHARS ? shown.replaceAll(token, "…") : shown;
}
