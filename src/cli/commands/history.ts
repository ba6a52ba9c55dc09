/** `audit list` and `keys history`: what operators changed, and what happened to a key. */
import type { Command } from "commander";
import type { AuditView } from "../../worker/admin/audit/schema.ts";
import type { BanView } from "../../worker/admin/bans/schema.ts";
import { AUDIT_CALLS, PLAN_IDS } from "../../worker/db/values.ts";
import { isInt64 } from "../../worker/orders/int64.ts";
import type { Query } from "../api.ts";
import { choice, PAST_TIME } from "../arguments.ts";
import { type Column, inline, minuteOf, table } from "../output.ts";
import { addList, keyId, type Session } from "../session.ts";

export function addAuditCommands(program: Command, session: Session): void {
  const audit = program.command("audit").description("list the changes that operators made");
  const columns: readonly Column<AuditView>[] = ["at", "actor", "call", "object", ["change", describeChange]];
  const list = { path: "/audit", rows: "audit", columns, cursor: "before" } as const;
  const toList = async ({ object, ...query }: Query) => {
    const id = object === undefined ? object : await objectId(session, String(object));
    return { ...list, query: { ...query, object: id } };
  };
  const does = "the changes that operators made, newest first";
  addList(audit, session, "list", does, toList, "--since 1d --actor ada", "--object pro")
    .option("--actor <name>", "only the changes of this operator")
    .addOption(choice("--call <call>", AUDIT_CALLS, "only the changes of this kind"))
    .option("--object <object>", "only the changes of this key, plan or order, or `orders` for loads")
    .option("--since, --from <time>", PAST_TIME)
    .option("--to <time>", "only changes before this time");
}

async function objectId(session: Session, object: string): Promise<string> {
  return isInt64(object) || ["orders", ...PLAN_IDS].includes(object) ? object : keyId(session, object);
}

/** `status: active → disabled, …`; of what is new or gone, the members that have a value. */
function describeChange({ before, after }: Pick<AuditView, "before" | "after">): string {
  const [old, now] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((name) => (old.get(name) ?? null) !== null || (now.get(name) ?? null) !== null)
    .map((name) => {
      const parts = [...(before ? [inline(old.get(name))] : []), ...(after ? [inline(now.get(name))] : [])];
      return `${name}: ${parts.join(" → ")}`;
    })
    .join(", ");
}

type Event =
  | { readonly kind: "change"; readonly at: string; readonly change: AuditView }
  | { readonly kind: "ban"; readonly at: string; readonly ban: BanView };
/** `by`: the name of a window or `ban`, and how many requests it refused. */
type RefusedMinute = { readonly at: string; readonly by: object };
type History = {
  readonly keyName: string;
  readonly asOf: string;
  readonly hours: readonly { readonly refusedMinutes: readonly RefusedMinute[] }[];
};

const EVENT_COLUMNS: readonly Column<Event>[] = [
  "at",
  ["what", (event) => (event.kind === "ban" ? `ban by ${event.ban.cause}` : event.change.call)],
  ["who", (event) => (event.kind === "ban" ? null : event.change.actor)],
  ["details", (event) => (event.kind === "ban" ? describeBan(event.ban) : describeChange(event.change))],
];

function describeBan({ liftedAt, liftedBy, endsAt, reason }: BanView): string {
  const end = liftedAt === null ? `until ${minuteOf(endsAt)}` : `lifted ${minuteOf(liftedAt)} by ${liftedBy}`;
  return reason === null ? end : `${end}: ${reason}`;
}

export function addKeyHistory(keys: Command, session: Session): void {
  const does = "changes and bans, newest first; above them the minutes of the last 7 days with refusals";
  const toList = async ({ at, ...query }: Query, ref: string) => {
    const path = `/keys/${await keyId(session, ref)}/history` as const;
    const heading = (history: History) => describeRefusals(history, String(at), session.io.columns);
    return { path, rows: "events", columns: EVENT_COLUMNS, query, heading };
  };
  const history = addList(keys, session, "history <key>", does, toList, "--at 10:42");
  history.option("--at <time>", "only the refusals of this minute, UTC, as in 10:42 or 2026-11-21T10:42", "");
}

function describeRefusals({ keyName, asOf, hours }: History, at: string, columns: number): string {
  const minutes = hours.flatMap((hour) => hour.refusedMinutes).filter((minute) => minute.at.includes(at));
  const title = `Refusals of ${keyName}, as of ${minuteOf(asOf)}`;
  if (minutes.length === 0) return `${title}: none\n`;
  return `${title}\n${table(minutes, ["at", ["refused by", ({ by }) => by]], columns)}\n`;
}
