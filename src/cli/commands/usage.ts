/** `usage`: the usage of all keys on one day. */
import { setTimeout } from "node:timers/promises";
import { type Command, Option } from "commander";
import * as v from "valibot";
import { USAGE_SORTS, type UsageSort } from "../../worker/db/values.ts";
import { AdminFailure } from "../admin-client.ts";
import { printable } from "../printable.ts";
import { arrayOf, count, figures, hours, limits, pageOf, textOrNull } from "./answers.ts";
import { digits, textInAddress, waitSeconds } from "./arguments.ts";
import type { Cell } from "./print.ts";
import { type List, type Session, showList } from "./session.ts";
import type { Column } from "./table.ts";
import { describeFigures, figuresOf, listOfDayHours, live, yesOrNo } from "./usage-chart.ts";

export function addUsageCommand(program: Command, session: () => Session): void {
  program
    .command("usage")
    .description("the usage of all keys on one day")
    .option("--day <day>", "a day, as in 2026-11-21; default: today", textInAddress)
    .addOption(new Option("--sort <by>", "the highest first").choices(USAGE_SORTS).default("admitted"))
    .addOption(
      new Option("--by <what>", "hour: of all keys and of each plan").choices(["key", "hour"]).default("key"),
    )
    .option("--limit <n>", "the maximum number of keys to show", digits, "500")
    .option("--after <next>", "start after this page; only of a day before yesterday, most used first")
    .option("--watch [interval]", "show it again until Ctrl-C; default: every 5s", waitSeconds)
    .action(async ({ watch, ...options }: Options & { watch?: number | true }) => {
      await showUsage(session(), options);
      if (watch === undefined) return;
      const { interruption } = session().io;
      for (;;) {
        await setTimeout((watch === true ? DEFAULT_INTERVAL_SECONDS : watch) * 1000, undefined, {
          signal: interruption,
        });
        await showUsageAgain(session(), options);
      }
    });
}

type Options = { day?: string; sort: UsageSort; by: "key" | "hour"; limit: string; after?: string };

const usageShape = v.object({
  day: v.string(),
  complete: v.boolean(),
  total: v.object({ keyCount: count, ...figures, hours }),
  plans: arrayOf(v.object({ plan: v.string(), hours })),
  keys: arrayOf(
    v.object({
      keyId: v.string(),
      keyName: v.string(),
      ownerName: textOrNull,
      ownerEmail: textOrNull,
      plan: v.string(),
      limits,
      percent: v.nullable(v.number()),
      live,
      ...figures,
    }),
  ),
  ...pageOf(v.string()),
});

type Usage = v.InferOutput<typeof usageShape>;

const DEFAULT_INTERVAL_SECONDS = 5;

function showUsage(session: Session, { by, ...query }: Options, isRepeated = false): Promise<void> {
  return showList(session, session.client.usage.$get({ query }), usageShape, (usage) => ({
    isRepeated,
    title: titleOf(usage),
    ...(by === "key"
      ? listOfKeys(session, usage, query)
      : listOfDayHours(
          [
            { name: "all", hours: usage.total.hours },
            ...usage.plans.map(({ plan, hours }) => ({ name: plan, hours })),
          ],
          usage.complete ? "" : NOT_COMPLETE_SUMS,
        )),
  }));
}

function titleOf({ day, total, complete }: Usage): string {
  const keys = `${complete ? "" : "at least "}${total.keyCount} ${total.keyCount === 1 ? "key" : "keys"}`;
  return `${day}: ${keys}, ${describeFigures(total, " admitted")}`;
}

/** Bars compare figures of the same time. Instead of them, a table with older ones says which these are, as CSV always does. */
function listOfKeys({ csv }: Session, usage: Usage, { sort, after }: Pick<Options, "sort" | "after">): List {
  const { keys, next, complete } = usage;
  const areAllLive = keys.every(({ live }) => live);
  const last = csv || !areAllLive ? LIVE : BAR;
  return {
    columns: [...COLUMNS, last],
    rows: keys.map((key) => [...rowOf(key), last === BAR ? key[sort] : yesOrNo(key.live)]),
    note: [
      ...(after === undefined ? notShown(usage) : []),
      ...(complete && areAllLive ? [] : [NOT_COMPLETE]),
    ].join("\n"),
    next: ["--after", next],
  };
}

/** Of a list that has one page. */
function notShown({ keys, next, total: { keyCount } }: Usage): string[] {
  if (next !== null || keys.length >= keyCount) return [];
  return [`${keys.length} of ${keyCount} keys are shown (--limit, at most 500).`];
}

const WHY_NOT_COMPLETE =
  "At most 500 limiters are inspected, some may not be reached, and old days are deleted";
const NOT_COMPLETE_SUMS = `${WHY_NOT_COMPLETE}: there can be more than these figures.`;
const NOT_COMPLETE = `${WHY_NOT_COMPLETE}: the list can lack keys, and figures with live "no" are as last reported.`;

function rowOf(key: Usage["keys"][number]): Cell[] {
  const { keyId, keyName, ownerName, ownerEmail, plan, limits, percent } = key;
  return [keyId, keyName, ownerName ?? ownerEmail, plan, limits.requestsPerDay, percent, ...figuresOf(key)];
}

/** A failure is shown, and does not end the watch: the service may be back at the next interval. */
async function showUsageAgain(session: Session, options: Options): Promise<void> {
  const { io } = session;
  try {
    await showUsage(session, options, true);
  } catch (thrown) {
    if (!(thrown instanceof AdminFailure) || io.interruption.aborted) throw thrown;
    io.stderr.write(printable(`error: ${thrown.message}\n`));
  }
}

const COLUMNS: readonly Column[] = [
  { label: "key" },
  { label: "name", min: 8, drop: 1 },
  { label: "owner", min: 8, drop: 5 },
  { label: "plan", drop: 4 },
  { label: "a day", drop: 3 },
  { label: "percent" },
  { label: "admitted" },
  { label: "refused" },
  { label: "while banned", drop: 2 },
];
/** The names fit into 80 columns with either of these. */
const BAR: Column = { label: "", min: 4, isBar: true };
const LIVE: Column = { label: "live" };
