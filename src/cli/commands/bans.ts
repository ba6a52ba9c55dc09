/** `bans …`: listing, setting and lifting bans. */
import { type Command, Option } from "commander";
import * as v from "valibot";
import type { BanFilter } from "../../worker/db/ban-list-repository.ts";
import { arrayOf, count, effective, pageOf, textOrNull } from "./answers.ts";
import { digits, idInPath, seconds, textInAddress } from "./arguments.ts";
import { facts } from "./print.ts";
import { type Session, show, showList } from "./session.ts";
import { type Column, withoutFirst } from "./table.ts";

const banMembers = {
  id: v.string(),
  keyId: v.string(),
  cause: v.string(),
  reason: textOrNull,
  startedAt: v.string(),
  endsAt: v.string(),
};

const banShape = v.object(banMembers);
type ShownBan = v.InferOutput<typeof banShape>;

/** Older services answer without some of these members. */
const banSetShape = v.object({
  ban: banShape,
  replaced: v.optional(arrayOf(banShape), []),
  replacedAll: v.optional(v.boolean(), true),
  ...effective,
});

const NOT_ALL_REPLACED =
  "The limiter could not be reached: if it has a ban for strikes that it has not reported yet, that ban stays. Set the ban again later to replace it too.";

/** Older services answer without some of these members. */
const banLiftedShape = v.object({
  lifted: v.nullable(banShape),
  liftedAll: v.optional(v.boolean(), true),
  ...effective,
});

const NOT_ALL_LIFTED =
  "Another ban of the key may be live: one that was not named, one that was set or began meanwhile, or one for strikes that the limiter, which could not be reached, has not reported yet. Lift again later to end it.";

const listedBanShape = v.object({
  ...banMembers,
  keyName: textOrNull,
  live: v.boolean(),
  strikes: count,
  liftedAt: textOrNull,
  liftedBy: textOrNull,
});

/** Older services answer without `complete`. */
const banListShape = v.object({
  bans: arrayOf(listedBanShape),
  complete: v.optional(v.boolean(), true),
  ...pageOf(v.string()),
});

const NOT_COMPLETE =
  "At most 500 limiters are inspected, and some may not be reached: the list can lack bans for strikes that were not reported yet.";

const COLUMNS: readonly Column[] = [
  { label: "key" },
  { label: "name", min: 8, drop: 1 },
  { label: "state" },
  { label: "cause", drop: 3 },
  { label: "strikes", drop: 6 },
  { label: "from", drop: 4 },
  { label: "until" },
  { label: "planned until", drop: 5 },
  { label: "reason", min: 16, drop: 2 },
  { label: "ended by", min: 8 },
];

type BanQuery = { state: BanFilter["state"]; keyId?: string; limit: string; after?: string };

export function addBanCommands(program: Command, session: () => Session): void {
  const bans = program.command("bans").description("list, set and lift bans");

  bans
    .command("list")
    .description("bans, newest first; live ones by their end, the last one first, and past ones likewise")
    .addOption(new Option("--state <state>").choices(["live", "past", "all"]).default("all"))
    .option("--key-id <id>", "only the bans of this key", textInAddress)
    .option("--limit <n>", "the maximum number of bans to show", digits, "100")
    .option("--after <next>", "go on after a list that ended with `More:`")
    .action(({ keyId, ...rest }: BanQuery) => {
      const query = { ...rest, ...(keyId === undefined ? {} : { key: keyId }) };
      return showList(
        session(),
        session().client.bans.$get({ query }),
        banListShape,
        ({ bans: list, complete, next }) => ({
          note: complete ? "" : NOT_COMPLETE,
          next: ["--after", next],
          columns: keyId === undefined ? COLUMNS : withoutFirst(COLUMNS, "key", "name"),
          rows: list.map((ban) => [
            ban.keyId,
            ban.keyName,
            ban.live ? "live" : "past",
            ban.cause,
            ban.strikes,
            ban.startedAt,
            ban.liftedAt ?? ban.endsAt,
            ban.liftedAt === null ? null : ban.endsAt,
            ban.reason,
            ban.liftedBy,
          ]),
        }),
      );
    });

  bans
    .command("set")
    .argument("<id>", "the key", idInPath)
    .description("ban a key; replaces its live ban, also a longer one")
    .requiredOption("--for <duration>", "as in 1h", seconds)
    .requiredOption("--reason <text>", "why; it is kept with the ban")
    .action((id: string, options: { for: number; reason: string }) =>
      show(
        session(),
        session().client.keys[":id"].ban.$put({
          param: { id },
          json: { seconds: options.for, reason: options.reason },
        }),
        banSetShape,
        ({ ban, replaced, replacedAll, effective }) =>
          `${describe(ban, replaced)}\n\nEffective ${effective}.${replacedAll ? "" : `\n${NOT_ALL_REPLACED}`}`,
      ),
    );

  bans
    .command("lift")
    .argument("<id>", "the key", idInPath)
    .description("end the live ban of a key")
    .option("--forgive", "also reset the escalation: the next ban is a first ban again", false)
    .option("--ban <id>", "only this ban; refused if it is not live", textInAddress)
    .action((id: string, { forgive, ban }: { forgive: boolean; ban?: string }) =>
      show(
        session(),
        session().client.keys[":id"].ban.$delete({
          param: { id },
          json: { forgive, ...(ban === undefined ? {} : { ban }) },
        }),
        banLiftedShape,
        ({ lifted, liftedAll, effective }) =>
          [
            lifted
              ? `${describe(lifted)}\n\nLifted, effective ${effective}.`
              : noneLifted(liftedAll, effective),
            ...(forgive ? [`Forgiven: its next ban is a first ban again; effective ${effective}.`] : []),
            ...(liftedAll ? [] : [NOT_ALL_LIFTED]),
          ].join("\n"),
      ),
    );
}

/** A ban that D1 does not list yet can only be lifted at the limiter, which may be unreachable. */
function noneLifted(liftedAll: boolean, effective: string): string {
  if (!liftedAll) return "No ban was lifted: the key's bans changed meanwhile.";
  return effective === "immediately"
    ? "There was no live ban to lift."
    : "No live ban is recorded, and the limiter cannot be reached: a ban that only the limiter has ends within 60 seconds.";
}

function describe(ban: ShownBan, replaced: readonly ShownBan[] = []): string {
  return facts([
    ["key", ban.keyId],
    ["ban", ban.id],
    ["cause", ban.cause],
    ["reason", ban.reason],
    ["from", ban.startedAt],
    ["until", ban.endsAt],
    ...replaced.map(({ id, reason, endsAt }): [string, string] => [
      "replaced",
      `${id}, until ${endsAt}${reason === null ? "" : `: ${reason}`}`,
    ]),
  ]);
}
