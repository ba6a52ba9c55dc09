/** `usage` and `customers`: how many requests were admitted and refused, by hour, day, key, owner and plan. */
import type { Command } from "commander";
import { PLAN_IDS } from "../../worker/db/values.ts";
import type { Query } from "../api.ts";
import { choice, PAST_TIME } from "../arguments.ts";
import { CliError } from "../io.ts";
import { type Column, inline, minuteOf } from "../output.ts";
import { addList, keyId, type Session } from "../session.ts";

type Row = { readonly refusedWhileBanned: number };
const FIGURES: readonly Column<Row>[] = ["admitted", "refused", ["banned", (row) => row.refusedWhileBanned]];
const COLUMNS = new Map([
  ["hour", ["start", ...FIGURES]],
  ["day", ["start", ...FIGURES]],
  ["key", ["keyName", "ownerName", "percent", ...FIGURES, "plan", "keyId"]],
  ["owner", ["owner", ...FIGURES, "keyCount"]],
  ["plan", ["plan", ...FIGURES, "keyCount"]],
]);

type Customer = { readonly [member in "daysNear" | "medianPercent" | "peakPercent"]: number };
const CUSTOMER_COLUMNS: readonly Column<Customer>[] = [
  "owner",
  ["near", (row) => row.daysNear],
  ["median %", (row) => row.medianPercent],
  ["peak %", (row) => row.peakPercent],
  ...["peakDay", "admitted", "refused", "plans"],
];

export function addUsageCommands(program: Command, session: Session): void {
  const does = "requests by key, owner, plan, hour or day; of one key by hour or day; default: today";
  const toList = async (query: Query, ref: string) => {
    const by = String(query.by ?? (ref ? "hour" : "key"));
    const list = { rows: "rows", columns: COLUMNS.get(by) ?? [], query: { ...query, by }, heading } as const;
    if (!ref) return { ...list, path: "/usage" } as const;
    requireOfKey(list.query);
    return { ...list, path: `/keys/${await keyId(session, ref)}/usage`, cursor: null } as const;
  };
  addList(program, session, "usage [key]", does, toList, "--since 7d --by owner", "acme --since 30d --by day")
    .option("--since, --from <time>", PAST_TIME)
    .option("--to <time>", "until then; default: now")
    .addOption(choice("--by <what>", [...COLUMNS.keys()], "default: key; of one key: hour"))
    .option("--key <key>", "only this key, as far as its limiter has reported")
    .option("--owner <name>", "only the keys of this owner")
    .addOption(choice("--plan <plan>", PLAN_IDS, "only the keys of this plan"))
    .addOption(choice("--sort <by>", ["admitted", "refused", "percent", "name"], "default: admitted"))
    .addOption(choice("--direction <direction>", ["asc", "desc"], "default: desc; asc for names"));

  const near = "customers by the days on which they were at 80 % or more of a key's limit of the day";
  const customers = { path: "/customers", rows: "customers", columns: CUSTOMER_COLUMNS } as const;
  addList(program, session, "customers", near, customers, "--days 30 --sort peak")
    .addOption(choice("--days <n>", ["1", "7", "30"], "default: 30"))
    .addOption(choice("--sort <by>", ["near", "peak", "admitted", "refused", "name"], "default: near"))
    .addOption(choice("--direction <direction>", ["asc", "desc"]));
}

/** A key has no other keys to list, filter or sort. */
function requireOfKey({ from: _, to: __, by, ...others }: Query): void {
  if (/^(hour|day)$/.test(String(by)) && Object.keys(others).length === 0) return;
  throw new CliError("The usage of one key has --since, --to, and --by hour or day.", { exitCode: 2 });
}

type Usage = { readonly from: string; readonly to: string; readonly asOf: string; readonly total: object };

function heading({ from, to, asOf, total }: Usage): string {
  return `${minuteOf(from)} to ${minuteOf(to)}, as of ${minuteOf(asOf)}\n${inline(total)}\n`;
}
