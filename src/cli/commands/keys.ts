/** `keys …`: issuing keys, changing them, and what they did. */
import { type Command, Option } from "commander";
import type { KeyView, SecretView } from "../../worker/db/key-repository.ts";
import { KEY_STATUSES, PLAN_IDS } from "../../worker/db/values.ts";
import {
  digits,
  idInPath,
  type LimitArgument,
  limitOrNone,
  limitsBody,
  seconds,
  wholeNumber,
} from "./arguments.ts";
import { bar, facts, more, table } from "./print.ts";
import { type Session, show } from "./session.ts";

const STATUSES = [...KEY_STATUSES, "expired"] as const;

type Plan = (typeof PLAN_IDS)[number];

type KeyQuery = {
  plan?: Plan;
  status?: (typeof STATUSES)[number];
  name?: string;
  limit: string;
  after?: string;
};

type Limits = { perMinute?: LimitArgument; perDay?: LimitArgument };

export function addKeyCommands(program: Command, session: () => Session): void {
  const keys = program.command("keys").description("issue keys, change them, see what they did");

  keys
    .command("create")
    .description("issue a key; it is shown once")
    .requiredOption("--name <name>", "whose it is")
    .addOption(new Option("--plan <plan>").choices(PLAN_IDS).makeOptionMandatory())
    .option("--per-minute <n>", "its own limit, instead of the plan's", wholeNumber)
    .option("--per-day <n>", "its own limit, instead of the plan's", wholeNumber)
    .option("--expires <date>", "a date or an RFC 3339 date-time")
    .action((options: { name: string; plan: Plan; expires?: string } & Limits) => {
      const json = {
        name: options.name,
        plan: options.plan,
        ...limitsBody(options),
        ...(options.expires === undefined ? {} : { expiresAt: options.expires }),
      };
      return show(
        session(),
        session().client.keys.$post({ json }),
        (key) => `${describe(key)}\n\n${secretOf(key)}`,
      );
    });

  keys
    .command("list")
    .description("all keys, masked")
    .addOption(new Option("--plan <plan>").choices(PLAN_IDS))
    .addOption(new Option("--status <status>").choices(STATUSES))
    .option("--name <part>", "part of the name")
    .option("--limit <n>", "how many at most", digits, "100")
    .option("--after <id>", "go on after this key")
    .action((query: KeyQuery) =>
      show(
        session(),
        session().client.keys.$get({ query }),
        ({ keys: list, next }) => tableOfKeys(list) + more("--after", next),
      ),
    );

  keys
    .command("show")
    .argument("<id>", "the key", idInPath)
    .description("one key, with the live use of both windows and its ban")
    .action((id: string) =>
      show(session(), session().client.keys[":id"].$get({ param: { id } }), (key) =>
        [describe(key), describeLive(key.live)].join("\n"),
      ),
    );

  keys
    .command("update")
    .argument("<id>", "the key", idInPath)
    .description("change a key; effective on its next request")
    .option("--name <name>", "whose it is")
    .addOption(new Option("--plan <plan>").choices(PLAN_IDS))
    .option("--per-minute <n>", "its own limit, or `none` for the plan's", limitOrNone)
    .option("--per-day <n>", "its own limit, or `none` for the plan's", limitOrNone)
    .option("--expires <date>", "a date or an RFC 3339 date-time, or `never`")
    .action((id: string, options: { name?: string; plan?: Plan; expires?: string } & Limits) => {
      const { name, plan, expires } = options;
      const json = {
        ...(name === undefined ? {} : { name }),
        ...(plan === undefined ? {} : { plan }),
        ...limitsBody(options),
        ...(expires === undefined ? {} : { expiresAt: expires === "never" ? null : expires }),
      };
      return show(session(), session().client.keys[":id"].$patch({ param: { id }, json }), describeChanged);
    });

  for (const [name, disabled] of [
    ["disable", true],
    ["enable", false],
  ] as const) {
    keys
      .command(name)
      .argument("<id>", "the key", idInPath)
      .description(disabled ? "refuse its requests until it is enabled again" : "let it in again")
      .action((id: string) =>
        show(
          session(),
          session().client.keys[":id"].$patch({ param: { id }, json: { disabled } }),
          describeChanged,
        ),
      );
  }

  keys
    .command("rotate")
    .argument("<id>", "the key", idInPath)
    .description("a new secret for the same key, quota and bans; it is shown once")
    .option("--grace <duration>", "how long the old one still works, as in 24h", seconds, 0)
    .action((id: string, { grace }: { grace: number }) =>
      show(
        session(),
        session().client.keys[":id"].rotate.$post({ param: { id }, json: { graceSeconds: grace } }),
        (key) => `${describeChanged(key)}\n\n${secretOf(key)}`,
      ),
    );

  keys
    .command("revoke")
    .argument("<id>", "the key", idInPath)
    .description("refuse its requests for good")
    .action((id: string) =>
      show(session(), session().client.keys[":id"].$delete({ param: { id } }), describeChanged),
    );

  keys
    .command("usage")
    .argument("<id>", "the key", idInPath)
    .description("what a key did, day by day")
    .option("--days <n>", "how many days back, at most 90", digits, "30")
    .action((id: string, { days }: { days: string }) =>
      show(session(), session().client.keys[":id"].usage.$get({ param: { id }, query: { days } }), (use) =>
        chart(use.days),
      ),
    );
}

function tableOfKeys(keys: readonly KeyView[]): string {
  return table(
    ["id", "name", "plan", "status", "a minute", "a day", "expires", "last used", "secrets"],
    keys.map((key) => [
      key.id,
      key.name,
      key.plan,
      key.status,
      key.limits.requestsPerMinute,
      key.limits.requestsPerDay,
      key.expiresAt,
      key.lastUsedDay,
      key.secrets
        .filter(isAlive)
        .map((secret) => secret.hint)
        .join(" "),
    ]),
  );
}

function describe(key: KeyView): string {
  const own = (limit: number | null) => (limit === null ? "the plan's" : "its own");
  return facts([
    ["id", key.id],
    ["name", key.name],
    ["plan", key.plan],
    ["status", key.status],
    ["a minute", `${key.limits.requestsPerMinute} (${own(key.requestsPerMinute)})`],
    ["a day", `${key.limits.requestsPerDay} (${own(key.requestsPerDay)})`],
    ["expires", key.expiresAt],
    ["created", key.createdAt],
    ["last used", key.lastUsedDay],
    ...key.secrets.map((secret) => ["secret", describeSecret(secret)] as const),
  ]);
}

function describeSecret(secret: SecretView): string {
  if (secret.expiresAt === null) return secret.hint;
  return `${secret.hint} ${isAlive(secret) ? "until" : "dead since"} ${secret.expiresAt}`;
}

function isAlive({ expiresAt }: SecretView): boolean {
  return expiresAt === null || Date.parse(expiresAt) > Date.now();
}

function secretOf({ key }: { key: string }): string {
  return `The key, shown only now:\n\n  ${key}`;
}

function describeChanged(key: KeyView & { effective: string }): string {
  return `${describe(key)}\n\nEffective ${key.effective}.`;
}

type Live = {
  minute: { used: number; limit: number; resetsAt: string };
  day: { used: number; limit: number; resetsAt: string };
  strikes: number;
  ban: { cause: string; reason: string | null; endsAt: string } | null;
} | null;

function describeLive(live: Live): string {
  if (!live) return "Its limiter cannot be reached, so its live use is not known.";
  const window = (use: { used: number; limit: number; resetsAt: string }) =>
    `${use.used} of ${use.limit}, until ${use.resetsAt}`;
  return facts([
    ["minute", window(live.minute)],
    ["day", window(live.day)],
    ["strikes", live.strikes],
    [
      "ban",
      live.ban &&
        `until ${live.ban.endsAt}, by ${live.ban.cause}${live.ban.reason ? `: ${live.ban.reason}` : ""}`,
    ],
  ]);
}

type DayFigures = { day: string; admitted: number; refused: number; refusedWhileBanned: number };

function chart(days: readonly DayFigures[]): string {
  const most = Math.max(...days.map((day) => day.admitted));
  return days
    .map(({ day, admitted, refused, refusedWhileBanned }) => {
      const refusals = [
        ...(refused > 0 ? [`${refused} refused`] : []),
        ...(refusedWhileBanned > 0 ? [`${refusedWhileBanned} while banned`] : []),
      ];
      return [
        day,
        bar(admitted, most),
        String(admitted),
        ...(refusals.length > 0 ? [`(${refusals.join(", ")})`] : []),
      ]
        .filter((part) => part !== "")
        .join(" ");
    })
    .join("\n");
}
