/** `keys history`: what happened to a key, and why a request of a given time was refused. */
import type { Command } from "commander";
import * as v from "valibot";
import { arrayOf, textOrNull } from "./answers.ts";
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
        historyShape,
        ({ keyName, at, from, to, reasons, events }) => ({
          ...(at === null
            ? {}
            : { finding: [`Refused at ${at}?`, ...reasons.map(describeReason)].join("\n") }),
          title: `${keyName}, from ${from} to ${to}`,
          columns: COLUMNS,
          rows: events.map((event) => [event.from, event.until, event.kind, event.actor, event.text]),
        }),
      ),
    );
}

const eventShape = v.object({
  from: textOrNull,
  until: textOrNull,
  kind: v.string(),
  text: v.string(),
  actor: textOrNull,
});

const historyShape = v.object({
  keyName: v.string(),
  at: textOrNull,
  from: v.string(),
  to: v.string(),
  reasons: arrayOf(eventShape),
  events: arrayOf(eventShape),
});

const COLUMNS: readonly Column[] = [
  { label: "from" },
  { label: "until", drop: 2 },
  { label: "what", drop: 1 },
  { label: "who", min: 8 },
  { label: "details", min: 24 },
];

function describeReason({ from, until, actor, text }: v.InferOutput<typeof eventShape>): string {
  const time = from === null ? "" : until === null ? `since ${from}` : `${from} to ${until}`;
  const by = actor === null ? "" : `by ${actor}`;
  const source = [time, by].filter((part) => part !== "").join(", ");
  return source === "" ? `  ${text}` : `  ${text} (${source})`;
}
