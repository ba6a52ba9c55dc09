/** `keys …`: issuing, changing and revoking keys, and their usage. */
import { type Command, Option } from "commander";
import { LOCATIONS, PLAN_IDS } from "../../worker/db/values.ts";
import {
  digits,
  idInPath,
  type LimitArgument,
  limitOrNone,
  limitsBody,
  requireChange,
  textInAddress,
  textOrNone,
  wholeNumber,
} from "./arguments.ts";
import { confirm, YES } from "./confirm.ts";
import { addFind } from "./key-find.ts";
import { addHistory } from "./key-history.ts";
import { addList, type Plan } from "./key-list.ts";
import { addRetire, addRotate, keyOf } from "./key-secrets.ts";
import {
  changedKeyShape,
  describeChanged,
  describeKey,
  describeLive,
  keyWithLiveShape,
  nameOf,
  newKeyShape,
  secretOf,
} from "./key-text.ts";
import { type Session, show, showList } from "./session.ts";
import { keyUsageShape, listOfKeyUsage } from "./usage-chart.ts";

type Location = (typeof LOCATIONS)[number];
type Owner = { owner?: string; ownerEmail?: string; note?: string };
type NewKey = { name: string; plan: Plan; expiresAt?: string; locationHint?: Location } & Owner & Limits;
type Changes = { name?: string; plan?: Plan; expiresAt?: string } & Owner & Limits;
type Limits = { perMinute?: LimitArgument; perDay?: LimitArgument };

export function addKeyCommands(program: Command, session: () => Session): void {
  const keys = program.command("keys").description("issue, change and revoke keys, show their usage");
  for (const add of [
    addCreate,
    addList,
    addFind,
    addShow,
    addUpdate,
    addDisableAndEnable,
    addRotate,
    addRetire,
    addRevoke,
    addUsage,
    addHistory,
  ]) {
    add(keys, session);
  }
}

/** The members of a request body for the options that were given. */
function ownerBody({ owner, ownerEmail, note }: Owner) {
  return {
    ...(owner === undefined ? {} : { ownerName: owner || null }),
    ...(ownerEmail === undefined ? {} : { ownerEmail: ownerEmail || null }),
    ...(note === undefined ? {} : { note: note || null }),
  };
}

function addCreate(keys: Command, session: () => Session): void {
  keys
    .command("create")
    .description("issue a key; it is shown once")
    .requiredOption("--name <name>", "a name for the key, such as its holder")
    .addOption(new Option("--plan <plan>").choices(PLAN_IDS).makeOptionMandatory())
    .option("--owner <name>", "who holds the key")
    .option("--owner-email <address>", "the holder's e-mail address")
    .option("--note <text>", "anything else that operators should know")
    .option("--per-minute <n>", "a limit of its own, instead of the plan's", wholeNumber)
    .option("--per-day <n>", "a limit of its own, instead of the plan's", wholeNumber)
    .option("--expires-at <date>", "a date or an RFC 3339 date-time", textInAddress)
    .addOption(
      new Option(
        "--location-hint <hint>",
        "where its limiter is created; by default near its first request",
      ).choices(LOCATIONS),
    )
    .action((options: NewKey) => {
      const json = {
        name: options.name,
        plan: options.plan,
        ...ownerBody(options),
        ...limitsBody(options),
        ...(options.expiresAt === undefined ? {} : { expiresAt: options.expiresAt }),
        ...(options.locationHint === undefined ? {} : { location: options.locationHint }),
      };
      return show(
        session(),
        session().client.keys.$post({ json }),
        newKeyShape,
        (key) => `${describeKey(key)}\n\n${secretOf(key)}`,
      );
    });
}

function addShow(keys: Command, session: () => Session): void {
  keys
    .command("show")
    .argument("<id>", "the key", idInPath)
    .description("one key, with its live usage in both windows and its ban")
    .action((id: string) =>
      show(session(), session().client.keys[":id"].$get({ param: { id } }), keyWithLiveShape, (key) =>
        [describeKey(key), describeLive(key.live)].join("\n"),
      ),
    );
}

function addUpdate(keys: Command, session: () => Session): void {
  keys
    .command("update")
    .argument("<id>", "the key", idInPath)
    .description("change a key; effective on its next request")
    .option("--name <name>", "a name for the key, such as its holder")
    .addOption(new Option("--plan <plan>").choices(PLAN_IDS))
    .option("--owner <name>", "who holds the key, or `none`", textOrNone)
    .option("--owner-email <address>", "the holder's e-mail address, or `none`", textOrNone)
    .option("--note <text>", "anything else that operators should know, or `none`", textOrNone)
    .option("--per-minute <n>", "a limit of its own, or `none` for the plan's", limitOrNone)
    .option("--per-day <n>", "a limit of its own, or `none` for the plan's", limitOrNone)
    .option("--expires-at <date>", "a date or an RFC 3339 date-time, or `never`", textInAddress)
    .action((id: string, options: Changes) => {
      const { name, plan, expiresAt } = options;
      const json = {
        ...(name === undefined ? {} : { name }),
        ...(plan === undefined ? {} : { plan }),
        ...ownerBody(options),
        ...limitsBody(options),
        ...(expiresAt === undefined ? {} : { expiresAt: expiresAt === "never" ? null : expiresAt }),
      };
      requireChange(json);
      return show(
        session(),
        session().client.keys[":id"].$patch({ param: { id }, json }),
        changedKeyShape,
        describeChanged,
      );
    });
}

function addDisableAndEnable(keys: Command, session: () => Session): void {
  for (const [name, disabled] of [
    ["disable", true],
    ["enable", false],
  ] as const) {
    keys
      .command(name)
      .argument("<id>", "the key", idInPath)
      .description(disabled ? "refuse its requests until it is enabled again" : "accept its requests again")
      .action((id: string) =>
        show(
          session(),
          session().client.keys[":id"].$patch({ param: { id }, json: { disabled } }),
          changedKeyShape,
          describeChanged,
        ),
      );
  }
}

function addRevoke(keys: Command, session: () => Session): void {
  keys
    .command("revoke")
    .argument("<id>", "the key", idInPath)
    .description("refuse its requests permanently")
    .option(...YES)
    .action(async (id: string, options: { yes?: boolean }) => {
      const question = async () =>
        `${nameOf(await keyOf(session(), id))}: its requests are refused from now on, permanently.`;
      await confirm(session(), options, question);
      await show(
        session(),
        session().client.keys[":id"].$delete({ param: { id } }),
        changedKeyShape,
        describeChanged,
      );
    });
}

function addUsage(keys: Command, session: () => Session): void {
  keys
    .command("usage")
    .argument("<id>", "the key", idInPath)
    .description("the usage of one key: the last 24 hours and 30 days, UTC")
    .option("--days <n>", "the last days only, at most 90", digits)
    .addOption(
      new Option("--hours <n>", "the last hours only, at most 168").argParser(digits).conflicts("days"),
    )
    .action((id: string, only: { days?: string; hours?: string }) =>
      showList(
        session(),
        session().client.keys[":id"].usage.$get({ param: { id }, query: usageQuery(only) }),
        keyUsageShape,
        (usage) => listOfKeyUsage(usage, only),
      ),
    );
}

function usageQuery({ days, hours }: { days?: string; hours?: string }) {
  if (days !== undefined) return { days };
  return hours === undefined ? { days: "30", hours: "24" } : { days: "1", hours };
}
