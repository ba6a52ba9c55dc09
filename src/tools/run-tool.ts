/** What the engineers' tools have in common: options and exit codes. */
import { type Command, CommanderError } from "commander";

/** Runs the action of a command. Exit codes: that of the action; 1 if it throws; 2 for wrong usage. */
export async function runTool(command: Command): Promise<void> {
  try {
    await command.exitOverride().parseAsync();
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exit(thrown.exitCode === 0 ? 0 : 2);
    console.error(explanationOf(thrown));
    // Ends what was started, and removes temporary folders.
    process.exit(1);
  }
}

/** An error of another class, such as TypeError, is a mistake of the tool: its stack says where. */
function explanationOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.name === "Error" ? thrown.message : (thrown.stack ?? thrown.message);
}
