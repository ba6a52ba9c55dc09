/** What the engineers' tools have in common: options and exit codes. */
import { type Command, CommanderError } from "commander";

/** Runs the action of a command. Exit codes: the action's own, 1 if the action throws, 2 for wrong usage. */
export async function runTool(command: Command): Promise<void> {
  requireNoneTakenByNpm(command);
  try {
    await command.exitOverride().parseAsync();
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exit(thrown.exitCode === 0 ? 0 : 2);
    console.error(explanationOf(thrown));
    // The exit handlers end child processes and remove temporary folders.
    process.exit(1);
  }
}

/** Without `--`, npm takes an option for itself and passes it in a variable. npm's warning is turned off. */
function requireNoneTakenByNpm(command: Command): void {
  for (const { long = "" } of command.options) {
    if (process.env[`npm_config_${long.slice(2).replaceAll("-", "_")}`] === undefined) continue;
    console.error(`npm took ${long} for its own. Type -- before the options: ${command.name()} ${long} …`);
    process.exit(2);
  }
}

/** An error of a subclass, such as TypeError, is a bug of the tool, so its stack is shown. */
function explanationOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.name === "Error" ? thrown.message : (thrown.stack ?? thrown.message);
}
