/** `usage`: the usage of all keys on one day. */
import type { Command } from "commander";
import { digits } from "./arguments.ts";
import { type Session, showList } from "./session.ts";
import type { Column } from "./table.ts";

export function addUsageCommand(program: Command, session: () => Session): void {
  program
    .command("usage")
    .description("the usage of all keys on one day, most used first")
    .option("--day <day>", "a day, as in 2026-11-21; default: today")
    .option("--limit <n>", "the maximum number of keys to show", digits, "100")
    .action((query: { day?: string; limit: string }) =>
      showList(session(), session().client.usage.$get({ query }), ({ day, keys }) => ({
        title: day,
        columns: COLUMNS,
        rows: keys.map((key) => [
          key.keyId,
          key.keyName,
          key.admitted,
          key.refused,
          key.refusedWhileBanned,
          key.admitted,
        ]),
      })),
    );
}

const COLUMNS: readonly Column[] = [
  { label: "key" },
  { label: "name", min: 8, drop: 1 },
  { label: "admitted" },
  { label: "refused" },
  { label: "while banned", drop: 2 },
  { label: "", min: 8, isBar: true },
];
