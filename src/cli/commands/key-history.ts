/** `keys history`: the changes and bans of a key, newest first. */
import type { Command } from "commander";
import * as v from "valibot";
import { arrayOf, textOrNull } from "./answers.ts";
import { digits, idInPath } from "./arguments.ts";
import { type Session, showList } from "./session.ts";
import type { Column } from "./table.ts";

export function addHistory(keys: Command, session: () => Session): void {
  keys
    .command("history")
    .argument("<id>", "the key", idInPath)
    .description("the changes and bans of a key, newest first")
    .option("--after <cursor>", "go on after a page")
    .option("--limit <n>", "how many, at most 500", digits, "100")
    .action((id: string, query: { after?: string; limit: string }) =>
      showList(
        session(),
        session().client.keys[":id"].history.$get({ param: { id }, query }),
        historyShape,
        ({ keyName, events, next }) => ({
          title: keyName,
          columns: COLUMNS,
          rows: events.map(rowOf),
          next: ["--after", next],
        }),
      ),
    );
}

const changeShape = v.object({
  call: v.string(),
  actor: v.string(),
  before: v.unknown(),
  after: v.unknown(),
});
const banShape = v.object({
  cause: v.string(),
  reason: textOrNull,
  endsAt: v.string(),
  liftedAt: textOrNull,
});

const eventShape = v.variant("kind", [
  v.object({ kind: v.literal("change"), at: v.string(), change: changeShape }),
  v.object({ kind: v.literal("ban"), at: v.string(), ban: banShape }),
]);

const historyShape = v.object({ keyName: v.string(), events: arrayOf(eventShape), next: textOrNull });

const COLUMNS: readonly Column[] = [
  { label: "when" },
  { label: "what" },
  { label: "who", min: 8 },
  { label: "details", min: 24 },
];

function rowOf(event: v.InferOutput<typeof eventShape>): (string | null)[] {
  if (event.kind === "change") {
    const { call, actor, before, after } = event.change;
    return [event.at, call, actor, `${JSON.stringify(before)} → ${JSON.stringify(after)}`];
  }
  const { cause, reason, endsAt, liftedAt } = event.ban;
  return [event.at, "ban", null, `${reason ?? cause}, until ${liftedAt ?? endsAt}`];
}
