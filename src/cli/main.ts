/**
 * `npm run -s admin -- …`: the operator's command line, a thin client of the surface under /admin.
 *
 * Exit codes: 0 done; 1 refused by the service, unreachable, or orders of an import refused; 2 not understood.
 */
import { Command, CommanderError } from "commander";
import { AdminFailure } from "./admin-client.ts";
import { addBanCommands, addPlanCommands, addUsageCommand } from "./commands/bans-and-plans.ts";
import { addKeyCommands } from "./commands/keys.ts";
import { addAuditCommand, addOrderCommands } from "./commands/orders.ts";
import { type GlobalOptions, openSession, type Session } from "./commands/session.ts";

const program = new Command("admin")
  .description("Operates Store Orders: keys, bans, plans, orders.")
  .option("--url <url>", "the service; ADMIN_URL, or the local instance by default")
  .option("--json", "print answers exactly as they come over HTTP")
  .addHelpText(
    "after",
    "\nThe token comes from ADMIN_TOKEN, for the local instance from .dev.vars by default.",
  )
  .showHelpAfterError("(--help tells more)")
  .exitOverride();

let opened: Session | undefined;
const session = () => {
  opened ??= openSession(program.opts<GlobalOptions>());
  return opened;
};

addKeyCommands(program, session);
addUsageCommand(program, session);
addBanCommands(program, session);
addPlanCommands(program, session);
addOrderCommands(program, session);
addAuditCommand(program, session);

// Whoever reads the output, as in `| head`, may have seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

try {
  await program.parseAsync();
} catch (thrown) {
  if (thrown instanceof CommanderError) process.exitCode = thrown.exitCode === 0 ? 0 : 2;
  else if (thrown instanceof AdminFailure) {
    console.error(`error: ${thrown.message}`);
    process.exitCode = 1;
  } else throw thrown;
}
