/** `bans …`: listing, setting and lifting bans. */
import { type Command, Option } from "commander";
import type { InferResponseType } from "hono/client";
import type { AdminClient } from "../admin-client.ts";
import { count, given, id, seconds } from "../arguments.ts";
import { describe } from "../output.ts";
import { bodyOf, type Column, type Session, show, showList } from "../session.ts";

const COLUMNS: readonly Column<InferResponseType<AdminClient["bans"]["$get"]>["bans"][number]>[] = [
  ["keyName", "name", (ban) => ban.keyName],
  [null, "state", (ban) => (ban.live ? "live" : "past")],
  ["live", null, (ban) => String(ban.live)],
  ["cause", "cause", (ban) => ban.cause],
  ["strikes", "strikes", (ban) => ban.strikes],
  ["startedAt", "from", (ban) => ban.startedAt],
  ["endsAt", "until", (ban) => ban.endsAt],
  ["liftedAt", "lifted", (ban) => ban.liftedAt],
  ["liftedBy", "by", (ban) => ban.liftedBy],
  ["id", null, (ban) => ban.id],
  ["keyId", "key", (ban) => ban.keyId],
  ["reason", "reason", (ban) => ban.reason],
];

type Filter = { state: "live" | "past" | "all"; key?: string };

export function addBanCommands(program: Command, session: () => Session): void {
  const bans = program.command("bans").description("list, set and lift bans");

  bans
    .command("list")
    .description("bans, newest first; live ones by their end, the last one first, and past ones likewise")
    .addOption(new Option("--state <state>").choices(["live", "past", "all"]).default("all"))
    .option("--key <id>", "only the bans of this key")
    .option("--limit <n>", "the maximum number of bans to show", count, 100)
    .option("--after <next>", "go on after a list that ended with `More:`")
    .action(({ limit, after, ...filter }: Filter & { limit: number; after?: string }) =>
      showList(session(), {
        name: "bans",
        columns: COLUMNS,
        range: { limit, ...given({ after }) },
        fetchPage: (range) => bodyOf(session().client.bans.$get({ query: { ...filter, ...range } })),
      }),
    );

  bans
    .command("set")
    .argument("<id>", "the key", id)
    .description("ban a key; replaces its live ban, also a longer one")
    .requiredOption("--for <duration>", "as in 1h", seconds)
    .requiredOption("--reason <text>", "why; it is kept with the ban")
    .action((key: string, options: { for: number; reason: string }) => {
      const json = { seconds: options.for, reason: options.reason };
      return show(session(), session().client.keys[":id"].ban.$put({ param: { id: key }, json }));
    });

  bans
    .command("lift")
    .argument("<id>", "the key", id)
    .description("end the live ban of a key; the next ban for strikes is a first one again")
    .action((key: string) =>
      show(session(), session().client.keys[":id"].ban.$delete({ param: { id: key } }), (answer) =>
        answer.lifted === null ? `There was no live ban to lift.\n${describe(answer)}` : describe(answer),
      ),
    );
}
