/** `audit`: the changes that operators made. */
import type { Command } from "commander";
import { digits } from "./arguments.ts";
import { type Session, showList } from "./session.ts";
import type { Column } from "./table.ts";

export function addAuditCommand(program: Command, session: () => Session): void {
  program
    .command("audit")
    .description("the changes that operators made, newest first")
    .option("--limit <n>", "the maximum number of changes to show", digits, "50")
    .option("--before <n>", "start before this change", digits)
    .option("--object <id>", "only the changes of this key, plan or order")
    .action((query: { limit: string; before?: string; object?: string }) =>
      showList(session(), session().client.audit.$get({ query }), ({ audit, next }) => ({
        columns: COLUMNS,
        rows: audit.map((row) => [
          row.at,
          row.actor,
          row.call,
          row.object,
          describeChange(row.before),
          describeChange(row.after),
        ]),
        next: ["--before", next],
      })),
    );
}

const COLUMNS: readonly Column[] = [
  { label: "when" },
  { label: "who", min: 8 },
  { label: "call", min: 12 },
  { label: "object", min: 12, isNarrowedLast: true },
  { label: "before", min: 16, drop: 1 },
  { label: "after", min: 16 },
];

function describeChange(value: unknown): string | null {
  if (value === null || typeof value !== "object") return null;
  return Object.entries(value)
    .map(([field, content]) => `${field}: ${typeof content === "string" ? content : JSON.stringify(content)}`)
    .join("\n");
}
