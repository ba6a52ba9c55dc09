/** `keys …`: issuing, changing and revoking keys, and their usage. */
import { createHash, randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import type { InferResponseType } from "hono/client";
import { keyIn, mintKeyId } from "../../worker/auth/key.ts";
import { KEY_SORTS, KEY_STATUSES, LOCATIONS, PLAN_IDS } from "../../worker/db/values.ts";
import type { AdminClient } from "../admin-client.ts";
import {
  confirm,
  count,
  given,
  id,
  numberOrNone,
  type OrNone,
  orNull,
  readLine,
  requireChange,
  seconds,
  wholeNumber,
  YES,
} from "../arguments.ts";
import { CliError } from "../io.ts";
import { describe } from "../output.ts";
import { bodyOf, type Column, type Session, show, showList } from "../session.ts";
import { describeChange } from "./audit.ts";
import { showKeyUsage } from "./usage.ts";

type Plan = (typeof PLAN_IDS)[number];
type Members = {
  name?: string;
  plan?: Plan;
  owner?: string;
  ownerEmail?: string;
  note?: string;
  perMinute?: OrNone<number>;
  perDay?: OrNone<number>;
  expiresAt?: string;
};
type NewKey = Members & { name: string; plan: Plan; location?: (typeof LOCATIONS)[number] };

export function addKeyCommands(program: Command, session: () => Session): void {
  const keys = program.command("keys").description("issue, change and revoke keys, show their usage");
  addCreate(keys, session);
  addList(keys, session);
  addFind(keys, session);
  addShow(keys, session);
  addUpdate(keys, session);
  addSwitch(keys, session, "disable", "refuse its requests until it is enabled again");
  addSwitch(keys, session, "enable", "accept its requests again");
  addRotate(keys, session);
  addRetire(keys, session);
  addRevoke(keys, session);
  addUsage(keys, session);
  addHistory(keys, session);
}

function withOwner(command: Command): Command {
  return command
    .option("--owner <name>", "who holds the key; none: nobody")
    .option("--owner-email <address>", "the holder's e-mail address; none: no address")
    .option("--note <text>", "anything else that operators should know; none: nothing");
}

function bodyFor({ owner, ownerEmail, note, perMinute, perDay, expiresAt }: Members) {
  return given({
    ownerName: orNull(owner),
    ownerEmail: orNull(ownerEmail),
    note: orNull(note),
    requestsPerMinute: orNull(perMinute),
    requestsPerDay: orNull(perDay),
    expiresAt: expiresAt === "never" ? null : expiresAt,
  });
}

function addCreate(keys: Command, session: () => Session): void {
  withOwner(keys.command("create"))
    .description("issue a key; it is shown once")
    .requiredOption("--name <name>", "a name for the key")
    .addOption(new Option("--plan <plan>").choices(PLAN_IDS).makeOptionMandatory())
    .option("--per-minute <n>", "a limit of its own, instead of the plan's", wholeNumber)
    .option("--per-day <n>", "a limit of its own, instead of the plan's", wholeNumber)
    .option("--expires-at <date>", "a date or an RFC 3339 date-time")
    .addOption(
      new Option("--location <hint>", "where its limiter is; default: near its first request").choices(
        LOCATIONS,
      ),
    )
    .action(({ name, plan, location, ...options }: NewKey) => {
      // With an id, a request that is sent again on its way cannot make two keys.
      const json = {
        id: mintKeyId(Date.now(), randomBytes),
        name,
        plan,
        ...bodyFor(options),
        ...given({ location }),
      };
      return show(session(), session().client.keys.$post({ json }), describeWithSecret);
    });
}

function describeWithSecret({ key, ...rest }: { readonly key: string }): string {
  return `${describe(rest)}\n\nThe key, shown only now:\n\n  ${key}`;
}

type ListedKey = InferResponseType<AdminClient["keys"]["$get"]>["keys"][number];

const COLUMNS: readonly Column<ListedKey>[] = [
  ["name", "name", (key) => key.name],
  [null, "owner", (key) => key.ownerName ?? key.ownerEmail],
  ["ownerName", null, (key) => key.ownerName],
  ["ownerEmail", null, (key) => key.ownerEmail],
  ["plan", "plan", (key) => key.plan],
  ["status", "status", (key) => key.status],
  ["requestsPerMinute", "a minute", (key) => key.limits.requestsPerMinute],
  ["requestsPerDay", "a day", (key) => key.limits.requestsPerDay],
  ["expiresAt", "expires", (key) => key.expiresAt],
  ["createdAt", null, (key) => key.createdAt],
  ["lastUsedDay", "last used", (key) => key.lastUsedDay],
  ["note", null, (key) => key.note],
  ["secrets", null, (key) => key.secrets.map(({ hint }) => hint).join(" ")],
  ["id", "id", (key) => key.id],
];

type KeyFilter = {
  plan?: Plan;
  status?: (typeof KEY_STATUSES)[number] | "expired" | "banned" | "usable";
  search?: string;
  expiringBefore?: string;
  unusedSince?: string;
  sort?: (typeof KEY_SORTS)[number];
  direction?: "asc" | "desc";
};

function addList(keys: Command, session: () => Session): void {
  keys
    .command("list")
    .description("all keys, without their secrets")
    .addOption(new Option("--plan <plan>").choices(PLAN_IDS))
    .addOption(
      new Option("--status <status>", "usable: active or banned").choices([
        ...KEY_STATUSES,
        "expired",
        "banned",
        "usable",
      ]),
    )
    .option("--search <part>", "only keys with this text in their name, owner or e-mail address")
    .option("--expiring-before <date>", "only keys that expire before this date or RFC 3339 date-time")
    .option("--unused-since <day>", "only keys last used before this UTC day, or never")
    .addOption(new Option("--sort <by>", "default: created").choices(KEY_SORTS))
    .addOption(new Option("--direction <direction>", "default: asc").choices(["asc", "desc"]))
    .option("--limit <n>", "the maximum number of keys to show", count, 100)
    .option("--after <next>", "go on after a list that ended with `More:`")
    .action(({ limit, after, ...filter }: KeyFilter & { limit: number; after?: string }) =>
      showList(session(), {
        name: "keys",
        columns: COLUMNS,
        range: { limit, ...given({ after }) },
        fetchPage: (range) => bodyOf(session().client.keys.$get({ query: { ...filter, ...range } })),
      }),
    );
}

function addFind(keys: Command, session: () => Session): void {
  keys
    .command("find")
    .description("the key of the secret on standard input; the secret is not sent")
    .option("--id <id>", "the key with this id")
    .addOption(
      new Option("--hint <hint>", "a masked secret, or at least its last 4 characters").conflicts("id"),
    )
    .action(async (search: { id?: string; hint?: string }) => {
      const isGiven = search.id !== undefined || search.hint !== undefined;
      const json = isGiven ? search : { hash: await readHash(session()) };
      await show(session(), session().client.keys.find.$post({ json }), ({ keys: found }) =>
        found.length === 0 ? "No key is found." : found.map(describe).join("\n\n"),
      );
    });
}

async function readHash({ io }: Session): Promise<string> {
  if (io.isInteractive) io.stderr.write("The secret, which stays on this machine: ");
  const secret = keyIn(await readLine(io));
  if (secret === undefined) {
    throw new CliError("Standard input has no secret. --hint takes the end of one.", { exitCode: 2 });
  }
  return createHash("sha256").update(secret).digest("hex");
}

function addShow(keys: Command, session: () => Session): void {
  keys
    .command("show")
    .argument("<id>", "the key", id)
    .description("one key, with its live usage in both windows and its ban")
    .action((key: string) => show(session(), session().client.keys[":id"].$get({ param: { id: key } })));
}

function addUpdate(keys: Command, session: () => Session): void {
  withOwner(keys.command("update"))
    .argument("<id>", "the key", id)
    .description("change a key; effective on its next request")
    .option("--name <name>", "a name for the key")
    .addOption(new Option("--plan <plan>").choices(PLAN_IDS))
    .option("--per-minute <n>", "a limit of its own; none: the plan's", numberOrNone)
    .option("--per-day <n>", "a limit of its own; none: the plan's", numberOrNone)
    .option("--expires-at <date>", "a date or an RFC 3339 date-time, or never")
    .action((key: string, { name, plan, ...options }: Members) => {
      const json = { ...given({ name, plan }), ...bodyFor(options) };
      requireChange(json);
      return show(session(), session().client.keys[":id"].$patch({ param: { id: key }, json }));
    });
}

function addSwitch(keys: Command, session: () => Session, name: "disable" | "enable", does: string): void {
  const json = { disabled: name === "disable" };
  keys
    .command(name)
    .argument("<id>", "the key", id)
    .description(does)
    .action((key: string) =>
      show(session(), session().client.keys[":id"].$patch({ param: { id: key }, json })),
    );
}

/** As a question names it, so that a wrong id is noticed. */
async function nameOf({ client }: Session, key: string): Promise<string> {
  const { name, plan, lastUsedDay } = await bodyOf(client.keys[":id"].$get({ param: { id: key } }));
  return `Key ${key} (${name}, plan ${plan}, last used ${lastUsedDay ?? "never"})`;
}

function addRotate(keys: Command, session: () => Session): void {
  keys
    .command("rotate")
    .argument("<id>", "the key", id)
    .description("add a new secret to the key, which is shown once; quota and bans stay")
    .requiredOption(
      "--grace <duration>",
      "how long the old secret stays valid, as in 24h; 0: not at all",
      seconds,
    )
    .option(...YES)
    .action(async (key: string, { grace, yes = false }: { grace: number; yes?: boolean }) => {
      await confirm(
        session().io,
        { yes: yes || grace > 0 },
        async () => `${await nameOf(session(), key)}: its current secrets stop working at once.`,
      );
      const rotated = session().client.keys[":id"].rotate.$post({
        param: { id: key },
        json: { graceSeconds: grace },
      });
      await show(session(), rotated, describeWithSecret);
    });
}

function addRetire(keys: Command, session: () => Session): void {
  keys
    .command("retire")
    .argument("<id>", "the key", id)
    .argument("<secret>", "the id of the secret, as `keys show` prints it", id)
    .description("refuse one of its secrets from now on; its other secrets stay valid until they end")
    .option(...YES)
    .action(async (key: string, secretId: string, options: { yes?: boolean }) => {
      await confirm(
        session().io,
        options,
        async () => `${await nameOf(session(), key)}: its secret ${secretId} stops working at once.`,
      );
      const param = { id: key, secretId };
      await show(session(), session().client.keys[":id"].secrets[":secretId"].$delete({ param }));
    });
}

function addRevoke(keys: Command, session: () => Session): void {
  keys
    .command("revoke")
    .argument("<id>", "the key", id)
    .description("refuse its requests permanently")
    .option(...YES)
    .action(async (key: string, options: { yes?: boolean }) => {
      await confirm(
        session().io,
        options,
        async () => `${await nameOf(session(), key)}: its requests are refused from now on, permanently.`,
      );
      await show(session(), session().client.keys[":id"].$delete({ param: { id: key } }));
    });
}

function addUsage(keys: Command, session: () => Session): void {
  keys
    .command("usage")
    .argument("<id>", "the key", id)
    .description("the usage of one key by day or by hour, UTC")
    .option("--days <n>", "the last days, at most 90; default: 30", count)
    .addOption(
      new Option("--hours <n>", "the last hours instead, at most 168").argParser(count).conflicts("days"),
    )
    .action((key: string, { days = 30, hours }: { days?: number; hours?: number }) =>
      showKeyUsage(
        session(),
        key,
        hours === undefined ? { by: "day", from: `${days - 1}d` } : { by: "hour", from: `${hours - 1}h` },
      ),
    );
}

type KeyHistory = InferResponseType<AdminClient["keys"][":id"]["history"]["$get"]>;
type KeyEvent = KeyHistory["events"][number];

const HISTORY_COLUMNS: readonly Column<KeyEvent>[] = [
  ["at", "when", (event) => event.at],
  ["kind", "what", (event) => (event.kind === "ban" ? `ban by ${event.ban.cause}` : event.change.call)],
  ["actor", "who", (event) => (event.kind === "ban" ? null : event.change.actor)],
  [
    "details",
    "details",
    (event) => (event.kind === "ban" ? describeBan(event) : describeChange(event.change)),
  ],
];

function describeBan({
  ban: { liftedAt, liftedBy, endsAt, reason },
}: Extract<KeyEvent, { kind: "ban" }>): string {
  const end = liftedAt === null ? `until ${endsAt}` : `ended ${liftedAt} by ${liftedBy ?? "–"}`;
  return reason === null ? end : `${end}: ${reason}`;
}

function addHistory(keys: Command, session: () => Session): void {
  keys
    .command("history")
    .argument("<id>", "the key", id)
    .description(
      "the changes and bans of a key, newest first; above them its hours with refusals, of the last 7 days",
    )
    .option("--limit <n>", "the maximum number of changes and bans to show", count, 100)
    .option("--after <next>", "go on after a list that ended with `More:`")
    .action((key: string, range: { limit: number; after?: string }) =>
      showList(session(), {
        name: "events",
        columns: HISTORY_COLUMNS,
        range,
        fetchPage: (query) =>
          bodyOf(session().client.keys[":id"].history.$get({ param: { id: key }, query })),
        heading: ({ keyName, hours }) => `${describe({ keyName, hours: hours.map(withCauses) })}\n`,
      }),
    );
}

/** `by` has what the key was refused by in this hour: the name of a window or `ban`, and how often. */
function withCauses({ start, refusedMinutes, ...figures }: KeyHistory["hours"][number]) {
  const by: Record<string, number> = {};
  for (const [cause, count] of refusedMinutes.flatMap((each) => Object.entries(each.by))) {
    by[cause] = (by[cause] ?? 0) + count;
  }
  return { hour: start, ...figures, by };
}
