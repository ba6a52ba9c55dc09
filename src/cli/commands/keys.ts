/** `keys …`: issuing, changing and revoking keys. */
import { createHash, randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import type { KeyView } from "../../worker/admin/keys/sql.ts";
import { keyIn, mintKeyId } from "../../worker/auth/key.ts";
import { KEY_SORTS, KEY_STATUSES, LOCATIONS, PLAN_IDS } from "../../worker/db/values.ts";
import { call } from "../api.ts";
import * as args from "../arguments.ts";
import { CliError, type CliIo } from "../io.ts";
import { type Column, describe } from "../output.ts";
import { addCommand, addKeyCommand, addList, type KeyCall, type Session, show } from "../session.ts";

/** Returns the group, to which other files add. */
export function addKeyCommands(program: Command, session: Session): Command {
  const keys = program
    .command("keys")
    .description("issue, change and revoke keys, show what happened to them");
  addReads(keys, session);
  addChanges(keys, session);
  addLimit(keys, session);
  addEnds(keys, session);
  return keys;
}

const COLUMNS: readonly Column<KeyView>[] = [
  "name",
  ["owner", (key) => key.ownerName ?? key.ownerEmail],
  ...["admittedToday", "plan", "status", "expiresAt", "id"],
];

function addReads(keys: Command, session: Session): void {
  const examples = ["keys list --expiring-within 30d", "keys list --status banned --search ada"] as const;
  const list = { path: "/keys", rows: "keys", columns: COLUMNS } as const;
  addList(keys, session, ["list", "all keys, without their secrets", ...examples], list)
    .addOption(args.choice("--plan <plan>", PLAN_IDS))
    .addOption(args.choice("--status <status>", [...KEY_STATUSES, "expired", "banned", "usable"]))
    .option("--search <part>", "only keys with this text in their name, owner or e-mail address")
    .option("--expiring-within, --expiring-before <time>", args.FUTURE_TIME)
    .option(
      "--unused-since <day>",
      "only keys not used since this UTC day, or a time ago, as in 30d",
      args.pastDay,
    )
    .addOption(args.choice("--sort <by>", KEY_SORTS, "default: created"))
    .addOption(args.choice("--direction <direction>", ["asc", "desc"], "default: asc"));

  const finds = "the key of the secret on standard input; the secret is not sent";
  addCommand(keys, "find", finds, "keys find < secret.txt").action(async () => {
    const json = { hash: await readHash(session.io) };
    const answer = await call<{ keys: KeyView[] }>(session.access, "POST /keys/find", { json });
    const describeKey = (key: KeyView) => describe(key, session.io.columns);
    show(session, answer, (found) => found.keys.map(describeKey).join("\n\n") || "No key is found.");
  });

  const shows = "one key, with its live usage in both windows and its ban";
  addKeyCommand(keys, session, ["show <key>", shows, "keys show acme"], () => ({ line: "GET " }));
}

async function readHash(io: CliIo): Promise<string> {
  if (io.isInteractive) io.stderr.write("The secret, which stays on this machine: ");
  const secret = keyIn(await args.readLine(io));
  if (secret !== undefined) return createHash("sha256").update(secret).digest("hex");
  throw new CliError("Standard input has no secret. `keys show` takes the end of one.", { exitCode: 2 });
}

function withMembers(command: Command): Command {
  return command
    .option("--owner, --owner-name <name>", "who holds the key; none: nobody")
    .option("--owner-email <address>", "the holder's e-mail address; none: no address")
    .option("--note <text>", "anything else that operators should know; none: nothing")
    .option(args.PER_MINUTE, "a limit of its own; none: the plan's", args.numberOrNone)
    .option(args.PER_DAY, "a limit of its own; none: the plan's", args.numberOrNone)
    .option("--expires-at <time>", `${args.FUTURE_TIME}; none: it does not expire`, args.futureTime);
}

function addChanges(keys: Command, session: Session): void {
  withMembers(
    addCommand(keys, "create", "issue a key; it is shown once", "keys create --name acme --plan pro"),
  )
    .requiredOption("--name <name>", "a name for the key")
    .addOption(args.choice("--plan <plan>", PLAN_IDS).makeOptionMandatory())
    .addOption(args.choice("--location <hint>", LOCATIONS, "of its limiter; default: near its first request"))
    .action(async (options: Record<string, unknown>) => {
      // With an id, a request that is sent again on its way cannot make two keys.
      const json = { id: mintKeyId(Date.now(), randomBytes), ...args.bodyOf(options) };
      const answer = await call<{ key: string }>(session.access, "POST /keys", { json });
      show(session, answer, (body) => withSecret(body, session.io.columns));
    });

  const update = (options: Record<string, unknown>): KeyCall => {
    const json = args.bodyOf(options);
    args.requireChange(json);
    return { line: "PATCH ", json };
  };
  const does = "change a key; effective on its next request";
  withMembers(
    addKeyCommand(keys, session, ["update <key>", does, "keys update acme --plan business"], update),
  )
    .option("--name <name>", "a name for the key")
    .addOption(args.choice("--plan <plan>", PLAN_IDS));
  const disable = [
    "disable <key>",
    "refuse its requests until it is enabled again",
    "keys disable acme",
  ] as const;
  addKeyCommand(keys, session, disable, () => update({ disabled: true }));
  const enable = ["enable <key>", "accept its requests again", "keys enable acme"] as const;
  addKeyCommand(keys, session, enable, () => update({ disabled: false }));
}

function withSecret({ key, ...others }: { readonly key: string }, columns: number): string {
  return `${describe(others, columns)}\n\nThe key, shown only now:\n\n  ${key}`;
}

type LimitOptions = { until?: string; for?: number; end?: boolean };

function addLimit(keys: Command, session: Session): void {
  const does = "give a key other limits for a time; replaces its temporary limits";
  const example = "keys limit acme --per-minute 1000 --for 24h --reason launch";
  addKeyCommand(
    keys,
    session,
    ["limit <key>", does, example],
    ({ end, for: lasts, until, ...given }: LimitOptions) => {
      if (end) return { line: "DELETE /temporary-limits" };
      const ends = lasts === undefined ? until : args.timeFromNow(lasts);
      if (ends === undefined) throw new CliError("Give --for, --until or --end.", { exitCode: 2 });
      return { line: "POST /temporary-limits", json: { ...given, until: ends } };
    },
  )
    .option(args.PER_MINUTE, "requests a minute", args.wholeNumber)
    .option(args.PER_DAY, "requests a day", args.wholeNumber)
    .option("--until <time>", args.FUTURE_TIME, args.futureTime)
    .addOption(new Option("--for <duration>", "as in 24h").argParser(args.seconds).conflicts("until"))
    .option("--reason <text>", "why; it is kept in the audit log")
    .option("--end", "end the temporary limits now");
}

/** What cannot be taken back asks first. */
function addEnds(keys: Command, session: Session): void {
  const rotate = ({ grace }: { grace: number }): KeyCall => ({
    line: "POST /rotate",
    json: { graceSeconds: grace },
    ask: grace === 0 && "its current secrets stop working at once",
  });
  const rotates = "add a new secret to the key, which is shown once; quota and bans stay";
  const shown = (body: { key: string }) => withSecret(body, session.io.columns);
  addKeyCommand(keys, session, ["rotate <key>", rotates, "keys rotate acme --grace 24h"], rotate, shown)
    .requiredOption("--grace <duration>", "how long the old secret stays valid; 0: not at all", args.seconds)
    .option(...args.YES);

  const retires = "refuse one of its secrets from now on; its other secrets stay valid until they end";
  const retire = ["retire <key>", retires, "keys retire acme 0123456789abcdef"] as const;
  addKeyCommand(keys, session, retire, (_, secret) => ({
    line: `DELETE /secrets/${encodeURIComponent(secret)}`,
    ask: `its secret ${secret} stops working at once`,
  }))
    .argument("<secret>", "the id of the secret, as `keys show` prints it")
    .option(...args.YES);

  addKeyCommand(
    keys,
    session,
    ["revoke <key>", "refuse its requests permanently", "keys revoke acme"],
    () => ({
      line: "DELETE ",
      ask: "its requests are refused from now on, permanently",
    }),
  ).option(...args.YES);
}
