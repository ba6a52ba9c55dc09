/** `keys history`: what happened to a key, and why a request of a given time was refused. */
import type { Command } from "commander";
import type { KeyEvent } from "../../worker/admin/key-history.ts";
import { digits, idInPath, moment } from "./arguments.ts";
import { type Session, showList } from "./session.ts";
import type { Column } from "./table.ts";

export function addHistory(keys: Command, session: () => Session): void {
  keys
    .command("history")
    .argument("<id>", "the key", idInPath)
    .description(
      "what happened to a key, newest first: bans, changes, refusals; with --at, why a request was refused",
    )
    .option(
      "--at <time>",
      "why was a request refused then? 10:42, or a date and time; UTC without an offset",
      moment,
    )
    .option("--hours <n>", "how many hours before that time, or before now; at most 168", digits, "24")
    .action((id: string, query: { at?: string; hours: string }) =>
      showList(
        session(),
        session().client.keys[":id"].history.$get({ param: { id }, query }),
        ({ keyName, at, from, to, reasons, events }) => ({
          title: [
            ...(at === null ? [] : [`Refused at ${at}?`, ...reasons.map(describeReason), ""]),
            `${keyName}, from ${from} to ${to}`,
          ].join("\n"),
          columns: COLUMNS,
          rows: events.map((event) => [event.from, event.until, event.kind, event.actor, event.text]),
        }),
      ),
    );
}

const COLUMNS: readonly Column[] = [
  { label: "from" },
  { label: "until", drop: 2 },
  { label: "what", drop: 1 },
  { label: "who", min: 8 },
  { label: "details", min: 24 },
];

function describeReason({ from, until, actor, text }: KeyEvent): string {
  const time = from === null ? "" : until === null ? `since ${from}` : `${from} to ${until}`;
  const by = actor === null ? "" : `by ${actor}`;
  const source = [time, by].filter((part) => part !== "").join(", ");
  return source === "" ? `  ${text}` : `  ${text} (${source})`;
}
