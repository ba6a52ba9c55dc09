/** `audit`: the changes that operators made. */
import { type Command, Option } from "commander";
import type { InferResponseType } from "hono/client";
import { AUDIT_CALLS, type AuditCall } from "../../worker/db/values.ts";
import type { AdminClient } from "../admin-client.ts";
import { count, given } from "../arguments.ts";
import { inline, toJson } from "../output.ts";
import { bodyOf, type Column, type Session, showList } from "../session.ts";

type Entry = InferResponseType<AdminClient["audit"]["$get"]>["audit"][number];

const COLUMNS: readonly Column<Entry>[] = [
  ["at", "when", (entry) => entry.at],
  ["actor", "who", (entry) => entry.actor],
  ["call", "call", (entry) => entry.call],
  ["object", "object", (entry) => entry.object],
  [null, "change", describeChange],
  ["before", null, (entry) => toJson(entry.before)],
  ["after", null, (entry) => toJson(entry.after)],
];

type Filter = { actor?: string; call?: AuditCall; object?: string; from?: string; to?: string };

export function addAuditCommand(program: Command, session: () => Session): void {
  program
    .command("audit")
    .description("the changes that operators made, newest first")
    .option("--actor <name>", "only the changes of this operator")
    .addOption(new Option("--call <call>", "only the changes of this kind").choices(AUDIT_CALLS))
    .option("--object <id>", "only the changes of this key, plan or order, or `orders` for loads")
    .option("--from <time>", "only changes since this date or RFC 3339 date-time")
    .option("--to <time>", "only changes before this date or RFC 3339 date-time")
    .option("--limit <n>", "the maximum number of changes to show", count, 50)
    .option("--after <next>", "go on after a list that ended with `More:`")
    .action(({ limit, after, ...filter }: Filter & { limit: number; after?: string }) =>
      showList(session(), {
        name: "audit",
        columns: COLUMNS,
        range: { limit, ...given({ after }) },
        fetchPage: ({ limit: rows, after: before }) =>
          bodyOf(session().client.audit.$get({ query: { ...filter, limit: rows, ...given({ before }) } })),
      }),
    );
}

/** `status: active → disabled, …`; of what is new or gone, the members that have a value. */
export function describeChange({ before, after }: Pick<Entry, "before" | "after">): string {
  const [old, now] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((name) => (old.get(name) ?? null) !== null || (now.get(name) ?? null) !== null)
    .map((name) => {
      if (before === null) return `${name}: ${inline(now.get(name))}`;
      if (after === null) return `${name}: ${inline(old.get(name))}`;
      return `${name}: ${inline(old.get(name))} → ${inline(now.get(name))}`;
    })
    .join(", ");
}
