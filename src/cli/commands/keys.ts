/** `keys …`: issuing, changing and revoking keys. */
import { createHash, randomBytes } from "node:crypto";
import type { Command } from "commander";
import type { KeyView } from "../../worker/admin/keys/schema.ts";
import { keyIn, mintKeyId } from "../../worker/auth/key.ts";
import { KEY_SORTS, KEY_STATUSES, LOCATIONS, PLAN_IDS } from "../../worker/db/values.ts";
import { call } from "../api.ts";
import * as args from "../arguments.ts";
import { CliError } from "../io.ts";
import { type Column, minuteOf } from "../output.ts";
import { addCommand, addKeyCommand, addList, type KeyCall, keyId, type Session, show } from "../session.ts";

/** Returns the group, to which other files add. */
export function addKeyCommands(program: Command, session: Session): Command {
  const keys = program.command("keys").description("issue, change and revoke keys, and look at them");
  addReads(keys, session);
  addChanges(keys, session);
  addLimit(keys, session);
  addEnds(keys, session);
  return keys;
}

const OWNER: Column<KeyView> = ["owner", (key) => key.ownerName ?? key.ownerEmail];
const COLUMNS = ["name", OWNER, "admittedToday", "plan", "status", "expiresAt", "id"];

function addReads(keys: Command, session: Session): void {
  const list = { path: "/keys", rows: "keys", columns: COLUMNS } as const;
  addList(keys, session, "list", "all keys, without their secrets", list, "--expiring-within 30d")
    .addOption(args.choice("--plan <plan>", PLAN_IDS))
    .addOption(args.choice("--status <status>", [...KEY_STATUSES, "expired", "banned", "usable"]))
    .option("--search <part>", "only keys with this text in their name, owner or e-mail address")
    .option("--expiring-within, --expiring-before <time>", args.FUTURE_TIME)
    .option("--unused-since <day>", "only keys not used since; a UTC day, or as in 30d", args.pastDay)
    .addOption(args.choice("--sort <by>", KEY_SORTS, "default: created"))
    .addOption(args.choice("--direction <direction>", ["asc", "desc"], "default: asc"));

  const finds = "the key of the secret on standard input; the secret is not sent";
  addCommand(keys, "find", finds, "< secret.txt").action(async () => {
    if (session.io.isInteractive) session.io.stderr.write("The secret, which stays on this machine: ");
    const secret = keyIn(await args.readLine(session.io));
    if (secret === undefined) {
      throw new CliError("Standard input has no secret. `keys show` takes the end of one.", { exitCode: 2 });
    }
    const json = { hash: createHash("sha256").update(secret).digest("hex") };
    const { text, body } = await call<{ keys: KeyView[] }>(session.access, "POST /keys/find", { json });
    const [key] = body.keys;
    if (key === undefined) throw new CliError("No key has this secret.", { code: "not_found" });
    show(session, { text, body: key });
  });

  const shows = "one key, with its live usage in both windows and its ban";
  addKeyCommand(keys, session, "show", shows, () => ({ line: "GET " }));
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
  const create = addCommand(keys, "create", "issue a key; it is shown once", "--name acme --plan pro");
  withMembers(create)
    .requiredOption("--name <name>", "a name for the key")
    .addOption(args.choice("--plan <plan>", PLAN_IDS).makeOptionMandatory())
    .addOption(args.choice("--location <hint>", LOCATIONS, "of its limiter; default: near its first request"))
    .action(async (options: Record<string, unknown>) => {
      // With an id, a request that is sent again on its way cannot make two keys.
      const json = { id: mintKeyId(randomBytes), ...args.bodyOf(options) };
      show(session, await call<object>(session.access, "POST /keys", { json }));
    });

  const toCall = (options: Record<string, unknown>) => ({ line: "PATCH ", json: args.bodyOf(options) });
  const updates = "change a key; effective on its next request";
  withMembers(addKeyCommand(keys, session, "update", updates, toCall, "--plan business --per-day none"))
    .option("--name <name>", "a name for the key")
    .addOption(args.choice("--plan <plan>", PLAN_IDS));
  const disables = "refuse its requests until it is enabled again";
  addKeyCommand(keys, session, "disable", disables, () => toCall({ disabled: true }));
  addKeyCommand(keys, session, "enable", "accept its requests again", () => toCall({ disabled: false }));

  const tells = "let the limiter of a key, or of all keys, read D1 again, as after a restore";
  addCommand(keys, "tell [key]", tells, "acme", "--all")
    .option("--all", "all keys")
    .action(async (ref: string | undefined, { all = false }: { all?: boolean }) => {
      if ((ref === undefined) !== all) throw new CliError("Give a key or --all.", { exitCode: 2 });
      const path = ref === undefined ? "tell" : `${await keyId(session, ref)}/tell`;
      show(session, await call<object>(session.access, `POST /keys/${path}`));
    });
}

type LimitOptions = { days?: number; end?: boolean };

function limitedUntil({ temporaryLimits }: KeyView): string {
  return `The limits hold until ${minuteOf(temporaryLimits?.until ?? "")} UTC.`;
}

function addLimit(keys: Command, session: Session): void {
  const does = "give a key other limits until a midnight UTC; replaces its temporary limits";
  const toCall = ({ end, ...limits }: LimitOptions): KeyCall => {
    if (end) return { line: "DELETE /temporary-limits" };
    if (limits.days === undefined) throw new CliError("Give --days or --end.", { exitCode: 2 });
    return { line: "POST /temporary-limits", json: limits, says: limitedUntil };
  };
  addKeyCommand(keys, session, "limit", does, toCall, "--per-minute 1000 --days 2", "--end")
    .option(args.PER_MINUTE, "requests a minute", args.wholeNumber)
    .option(args.PER_DAY, "requests a day", args.wholeNumber)
    .option("--days <n>", "UTC days, today included: 1 is until the coming midnight UTC", args.count)
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
  addKeyCommand(keys, session, "rotate", rotates, rotate, "--grace 24h")
    .requiredOption("--grace <duration>", "how long the old secret stays valid; 0: not at all", args.seconds)
    .option(...args.YES);

  const retire = (_: object, secret: string): KeyCall => ({
    line: `DELETE /secrets/${encodeURIComponent(secret)}`,
    ask: `its secret ${secret} stops working at once`,
  });
  const retires = "refuse one of its secrets from now on; its other secrets stay valid until they end";
  addKeyCommand(keys, session, "retire", retires, retire, "0123456789abcdef")
    .argument("<secret>", "the id of the secret, as `keys show` prints it")
    .option(...args.YES);

  const revoke = { line: "DELETE ", ask: "its requests are refused from now on, permanently" };
  const revokes = "refuse its requests permanently";
  addKeyCommand(keys, session, "revoke", revokes, () => revoke).option(...args.YES);
}
