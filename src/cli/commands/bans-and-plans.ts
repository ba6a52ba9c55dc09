/** `usage`, `bans …` and `plans …`. */
import { Argument, type Command, Option } from "commander";
import type { Effective } from "../../worker/admin/effective.ts";
import type { BanFilter, BanView } from "../../worker/db/ban-repository.ts";
import { PLAN_IDS } from "../../worker/db/values.ts";
import { digits, idInPath, type LimitArgument, limitOrNone, limitsBody, seconds } from "./arguments.ts";
import { bar, facts, table } from "./print.ts";
import { type Session, show } from "./session.ts";

export function addUsageCommand(program: Command, session: () => Session): void {
  program
    .command("usage")
    .description("all keys of a day, most used first")
    .option("--day <day>", "as in 2026-11-21; today by default")
    .option("--limit <n>", "how many keys at most", digits, "100")
    .action((query: { day?: string; limit: string }) =>
      show(session(), session().client.usage.$get({ query }), ({ day, keys }) => {
        const most = keys[0]?.admitted ?? 0;
        const rows = keys.map((key) => [
          key.keyId,
          key.keyName,
          key.admitted,
          key.refused,
          key.refusedWhileBanned,
          bar(key.admitted, most),
        ]);
        return `${day}\n${table(["key", "name", "admitted", "refused", "while banned", ""], rows)}`;
      }),
    );
}

export function addBanCommands(program: Command, session: () => Session): void {
  const bans = program.command("bans").description("who is banned, and was");

  bans
    .command("list")
    .description("live and past bans, newest first")
    .addOption(new Option("--state <state>").choices(["live", "past", "all"]).default("all"))
    .option("--key <id>", "of this key only")
    .option("--limit <n>", "how many at most", digits, "100")
    .action((query: { state: BanFilter["state"]; key?: string; limit: string }) =>
      show(session(), session().client.bans.$get({ query }), ({ bans: list }) =>
        table(
          ["key", "name", "state", "cause", "strikes", "from", "until", "reason", "lifted"],
          list.map((ban) => [
            ban.keyId,
            ban.keyName,
            ban.live ? "live" : "past",
            ban.cause,
            ban.strikes,
            ban.startedAt,
            ban.endsAt,
            ban.reason,
            ban.liftedAt === null ? null : `${ban.liftedAt} by ${ban.liftedBy}`,
          ]),
        ),
      ),
    );

  bans
    .command("set")
    .argument("<id>", "the key", idInPath)
    .description("ban a key by hand")
    .requiredOption("--for <duration>", "as in 1h", seconds)
    .requiredOption("--reason <text>", "for the record")
    .action((id: string, options: { for: number; reason: string }) =>
      show(
        session(),
        session().client.keys[":id"].ban.$put({
          param: { id },
          json: { seconds: options.for, reason: options.reason },
        }),
        ({ ban, effective }) => `${describe(ban)}\n\nEffective ${effective}.`,
      ),
    );

  bans
    .command("lift")
    .argument("<id>", "the key", idInPath)
    .description("end a key's live ban")
    .option("--forgive", "the next ban is a first one again", false)
    .action((id: string, { forgive }: { forgive: boolean }) =>
      show(
        session(),
        session().client.keys[":id"].ban.$delete({ param: { id }, json: { forgive } }),
        ({ lifted, effective }) => {
          const ended = lifted
            ? `${describe(lifted)}\n\nLifted, effective ${effective}.`
            : noneToLift(effective);
          return forgive
            ? `${ended}\nForgiven: its next ban is a first one again; effective ${effective}.`
            : ended;
        },
      ),
    );
}

export function addPlanCommands(program: Command, session: () => Session): void {
  const plans = program.command("plans").description("the plans' limits");

  plans
    .command("list")
    .description("each plan's limits, and how many keys it has")
    .action(() =>
      show(session(), session().client.plans.$get(), ({ plans: list }) =>
        table(
          ["plan", "a minute", "a day", "keys"],
          list.map((plan) => [plan.id, plan.requestsPerMinute, plan.requestsPerDay, plan.keys]),
        ),
      ),
    );

  plans
    .command("set")
    .addArgument(new Argument("<plan>", "which plan").choices(PLAN_IDS))
    .description("change a plan's limits for all its keys")
    .option("--per-minute <n>", "a number, or `none`: its keys bring their own", limitOrNone)
    .option("--per-day <n>", "a number, or `none`: its keys bring their own", limitOrNone)
    .action((id: string, options: { perMinute?: LimitArgument; perDay?: LimitArgument }) => {
      const json = limitsBody(options);
      return show(session(), session().client.plans[":id"].$patch({ param: { id }, json }), (plan) =>
        facts([
          ["plan", plan.id],
          ["a minute", plan.requestsPerMinute],
          ["a day", plan.requestsPerDay],
          ["effective", plan.effective],
        ]),
      );
    });
}

/** The limiter is asked for a ban that the history does not know; it cannot always be reached. */
function noneToLift(effective: Effective): string {
  return effective === "immediately"
    ? "There was no live ban to lift."
    : "No live ban is known, and its limiter cannot be reached: a ban that it knows of ends within 60 seconds.";
}

function describe(ban: BanView): string {
  return facts([
    ["key", ban.keyId],
    ["cause", ban.cause],
    ["reason", ban.reason],
    ["from", ban.startedAt],
    ["until", ban.endsAt],
  ]);
}
