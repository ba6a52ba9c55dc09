/**
 * `npm run -s admin -- …`, the operator's command line, as a function: a client of the admin API.
 *
 * Exit codes: 0 done; 1 refused by the service, unreachable, an answer not understood, orders of an import refused, or the output
 * cannot be written; 2 invalid command or argument; 129, 130 and 143 interrupted.
 */
import { Command, CommanderError, Option } from "commander";
import { LOOK_FIRST } from "../worker/admin/can-change.ts";
import { AdminFailure, ArgumentsError, LostAnswer } from "./admin-client.ts";
import { refuseCredential, refuseKeys, waitSeconds } from "./commands/arguments.ts";
import { addAuditCommand } from "./commands/audit.ts";
import { addBanCommands } from "./commands/bans.ts";
import { addKeyCommands } from "./commands/keys.ts";
import { addOrderCommands } from "./commands/orders.ts";
import { addPlanCommands } from "./commands/plans.ts";
import { type GlobalOptions, openSession, type Session } from "./commands/session.ts";
import { addSmokeCommand } from "./commands/smoke.ts";
import { addUsageCommand } from "./commands/usage.ts";
import { type CliIo, ExitCode } from "./io.ts";
import { correctionOf } from "./npm-options.ts";
import { printable } from "./printable.ts";
import { withoutValues } from "./typed-values.ts";

/** The scripts of package.json that run the command line. */
const SCRIPTS = { names: ["admin", "smoke"], typed: "npm run -s admin" };

/** Variables of the environment. The token of the local instance is known once the session is open. */
const CREDENTIALS = ["ADMIN_TOKEN", "CF_ACCESS_CLIENT_SECRET", "CF_ACCESS_TOKEN"];

/** Runs one command and returns its exit code. `argv` has the arguments only, without the program. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let isChanging = false;
  const onChange = () => {
    isChanging = true;
  };
  try {
    const program = createProgram(argv, io, onChange);
    refuseKeys(argv);
    for (const name of CREDENTIALS) refuseCredential(argv, io.env[name]?.trim());
    const correction = correctionOf(program, argv, io.env, SCRIPTS);
    if (correction !== undefined) throw new ArgumentsError(correction);
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (thrown) {
    // An interrupted request or read also fails, with an error that does not name the signal.
    return exitCodeOf(io.interruption.aborted ? io.interruption.reason : thrown, io, isChanging);
  }
}

/** The commands with their options. */
export function createProgram(argv: readonly string[], io: CliIo, onChange: () => void): Command {
  const program = new Command("admin")
    .description("Operates Store Orders: keys, bans, plans, orders.")
    .option("--url <url>", "the service; default: ADMIN_URL, or the local instance")
    .option("--timeout <duration>", "how long to wait for each answer; default: 60s", waitSeconds)
    .option("--json", "print each answer exactly as the admin API sends it")
    .addOption(new Option("--csv", "print a list or usage as CSV, with every column").conflicts("json"))
    .hook("preAction", (_, command) => {
      if (program.opts<GlobalOptions>().csv && !isList(command)) {
        throw new ArgumentsError("--csv is for lists and usage: this command prints no table.");
      }
    })
    .addHelpText(
      "after",
      "\nThe admin token is read from ADMIN_TOKEN; for the local instance, .dev.vars is the default.",
    )
    .showHelpAfterError("(see --help)")
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(printable(withoutValues(text, argv))),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
    })
    .exitOverride();

  let opened: Session | undefined;
  const session = () => {
    opened ??= openSession(program.opts<GlobalOptions>(), io, argv, onChange);
    return opened;
  };

  addKeyCommands(program, session);
  addUsageCommand(program, session);
  addBanCommands(program, session);
  addPlanCommands(program, session);
  addOrderCommands(program, session);
  addAuditCommand(program, session);
  addSmokeCommand(program, session);
  return program;
}

function isList(command: Command): boolean {
  return ["list", "usage", "cancelled", "imports", "audit", "history"].includes(command.name());
}

/** `isChanging`: a request was sent that can change something. */
function exitCodeOf(thrown: unknown, io: CliIo, isChanging: boolean): number {
  if (thrown instanceof ExitCode) return thrown.exitCode;
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
  if (!(thrown instanceof AdminFailure)) throw thrown;
  const advice = isChanging && thrown instanceof LostAnswer ? ` ${LOOK_FIRST}` : "";
  io.stderr.write(printable(`error: ${thrown.message}${advice}\n`));
  return thrown instanceof ArgumentsError ? 2 : 1;
}
