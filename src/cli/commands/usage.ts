/** `usage`: the usage of all keys on one day. */
import { setTimeout } from "node:timers/promises";
import type { Command } from "commander";
import { AdminFailure } from "../admin-client.ts";
import { printable } from "../printable.ts";
import { digits, seconds } from "./arguments.ts";
import { type Session, showList } from "./session.ts";
import type { Column } from "./table.ts";

export function addUsageCommand(program: Command, session: () => Session): void {
  program
    .command("usage")
    .description("the usage of all keys on one day, most used first")
    .option("--day <day>", "a day, as in 2026-11-21; default: today")
    .option("--limit <n>", "the maximum number of keys to show", digits, "100")
    .option("--watch [interval]", "show it again until Ctrl-C; default: every 5s", seconds)
    .action(async ({ watch, ...query }: Query & { watch?: number | true }) => {
      await showUsage(session(), query);
      if (watch === undefined) return;
      const { interruption } = session().io;
      for (;;) {
        await setTimeout((watch === true ? DEFAULT_INTERVAL_SECONDS : watch) * 1000, undefined, {
          signal: interruption,
        });
        await showUsageAgain(session(), query);
      }
    });
}

type Query = { day?: string; limit: string };

const DEFAULT_INTERVAL_SECONDS = 5;

function showUsage(session: Session, query: Query, isRepeated = false): Promise<void> {
  return showList(session, session.client.usage.$get({ query }), ({ day, keys }) => ({
    isRepeated,
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
  }));
}

/** A failure is shown, and does not end the watch: the service may be back at the next interval. */
async function showUsageAgain(session: Session, query: Query): Promise<void> {
  const { io } = session;
  try {
    await showUsage(session, query, true);
  } catch (thrown) {
    if (!(thrown instanceof AdminFailure) || io.interruption.aborted) throw thrown;
    io.stderr.write(printable(`error: ${thrown.message}\n`));
  }
}

const COLUMNS: readonly Column[] = [
  { label: "key" },
  { label: "name", min: 8, drop: 1 },
  { label: "admitted" },
  { label: "refused" },
  { label: "while banned", drop: 2 },
  { label: "", min: 8, isBar: true },
];
