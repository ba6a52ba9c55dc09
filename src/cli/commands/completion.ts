/** `completion` prints a script for a shell. The script asks the command itself for the words that fit. */
import { join } from "node:path";
import addCompletion from "@bomb.sh/tab/commander";
import type { Command } from "commander";

const COMMAND = join(import.meta.dirname, "../../../store-orders");

export function addCompletionCommand(program: Command): void {
  const completion = addCompletion(program, { completionCommandName: "completion" });
  const command = program.commands.find((each) => each.name() === "completion");
  command?.description("Print the script that completes words of this command in a shell");
  command?.addHelpText("after", "\nExamples:\n  store-orders completion bash > ~/.store-orders.bash");
  // The library's own action makes a script that looks for the command in PATH.
  command?.action((shell: string) => completion.setup(program.name(), `'${COMMAND}'`, shell));
}
