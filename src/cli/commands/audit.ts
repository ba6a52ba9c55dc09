/** `audit`: the changes that operators made. */
import type { Command } from "commander";
import { digits } from "./arguments.ts";
import { more, table } from "./print.ts";
import { type Session, show } from "./session.ts";

export function addAuditCommand(program: Command, session: () => Session): void {
  program
    .command("audit")
    .description("the changes that operators made, newest first")
    .option("--limit <n>", "the maximum number of changes to show", digits, "50")
    .option("--before <n>", "start before this change", digits)
    .option("--object <id>", "only the changes of this key, plan or order")
    .action((query: { limit: string; before?: string; object?: string }) =>
      show(session(), session().client.audit.$get({ query }), ({ audit, next }, width) => {
        const rows = audit.map((row) => [
          row.at,
          row.actor,
          row.call,
          row.object,
          describeChange(row.before),
          describeChange(row.after),
        ]);
        return (
          table(["when", "who", "call", "object", "before", "after"], rows, width) + more("--before", next)
        );
      }),
    );
}

function describeChange(value: unknown): string | null {
  if (value === null || typeof value !== "object") return null;
  return Object.entries(value)
    .map(([field, content]) => `${field}: ${typeof content === "string" ? content : JSON.stringify(content)}`)
    .join("\n");
}
