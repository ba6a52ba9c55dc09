/** `usage`: the usage of all keys on one day. */
import type { Command } from "commander";
import { digits } from "./arguments.ts";
import { bar, table } from "./print.ts";
import { type Session, show } from "./session.ts";

export function addUsageCommand(program: Command, session: () => Session): void {
  program
    .command("usage")
    .description("the usage of all keys on one day, most used first")
    .option("--day <day>", "a day, as in 2026-11-21; default: today")
    .option("--limit <n>", "the maximum number of keys to show", digits, "100")
    .action((query: { day?: string; limit: string }) =>
      show(session(), session().client.usage.$get({ query }), ({ day, keys }, width) => {
        const max = keys[0]?.admitted ?? 0;
        const rows = keys.map((key) => [
          key.keyId,
          key.keyName,
          key.admitted,
          key.refused,
          key.refusedWhileBanned,
          bar(key.admitted, max),
        ]);
        return `${day}\n${table(["key", "name", "admitted", "refused", "while banned", ""], rows, width)}`;
      }),
    );
}
