/** `audit`: the changes that operators made. */
import { type Command, Option } from "commander";
import type { AuditView } from "../../worker/db/audit-repository.ts";
import { AUDIT_CALLS, type AuditCall } from "../../worker/db/values.ts";
import { exactNumber, parseExactJson } from "../../worker/exact-json.ts";
import { beforeQuery, dateOrMoment, digits } from "./arguments.ts";
import { answerOf, printList, type Session } from "./session.ts";
import { type Column, withoutFirst } from "./table.ts";

type AuditQuery = {
  limit: string;
  before?: string;
  actor?: string;
  call?: AuditCall;
  object?: string;
  from?: string;
  to?: string;
};

type AuditOptions = Omit<AuditQuery, "before" | "to"> & { after?: string; until?: string };

type AuditPage = { audit: AuditView[]; next: number | null };

export function addAuditCommand(program: Command, session: () => Session): void {
  program
    .command("audit")
    .description("the changes that operators made, newest first")
    .option("--actor <name>", "only the changes of this operator, as the column `who` has the name")
    .addOption(
      new Option("--call <call>", "only the changes of this kind, such as bans.lift").choices(AUDIT_CALLS),
    )
    .option("--object <id>", "only the changes of this key, plan, order or import")
    .option(
      "--from <time>",
      "only changes since then: a date, or a time as in 2026-11-21T10:42; UTC",
      dateOrMoment,
    )
    .option("--until <time>", "only changes before then", dateOrMoment)
    .option("--limit <n>", "the maximum number of changes to show", digits, "50")
    .option("--after <next>", "go on after a list that ended with `More:`", digits)
    .action(async ({ after, until, ...rest }: AuditOptions) => {
      const query = { ...rest, ...(until === undefined ? {} : { to: until }), ...beforeQuery(after) };
      printList(session(), await fetchAudit(session(), query), ({ audit, next }: AuditPage) => ({
        columns: query.object === undefined ? COLUMNS : withoutFirst(COLUMNS, "object"),
        rows: audit.map((row) => [
          row.at,
          row.actor,
          row.call,
          row.object,
          describeChange(row.before),
          describeChange(row.before === null ? withoutNulls(row.after) : row.after),
        ]),
        next: ["--after", next],
      }));
    });
}

/** The largest page that the service has. */
const MAX_PAGE_ENTRIES = 500;

/** A deleted order in an entry has integers of 64 bits, which keep their digits as `JSON.rawJSON` objects. */
type ExactPage = { audit: unknown[]; next: number | null };

/** The first `query.limit` changes that match, as the JSON text of one page: with a filter, a page of the service can be short. */
async function fetchAudit({ client, access }: Session, query: AuditQuery): Promise<string> {
  const limit = Number(query.limit);
  const audit: unknown[] = [];
  let next: number | null = null;
  do {
    const missing = String(Math.min(limit - audit.length, MAX_PAGE_ENTRIES));
    const before = next === null ? {} : { before: String(next) };
    const text = await answerOf(
      access,
      client.audit.$get({ query: { ...query, ...before, limit: missing } }),
    );
    const page = parseExactJson(text, exactNumber) as ExactPage; // `answerOf` throws unless the service answered with a page
    audit.push(...page.audit);
    next = page.next;
  } while (next !== null && audit.length < limit);
  return JSON.stringify({ audit, next });
}

const COLUMNS: readonly Column[] = [
  { label: "when" },
  { label: "who", min: 8 },
  { label: "call", min: 12 },
  { label: "object", min: 12, isNarrowedLast: true },
  { label: "before", min: 16, drop: 1 },
  { label: "after", min: 16 },
];

export function describeChange(value: unknown): string | null {
  if (value === null || typeof value !== "object") return null;
  return Object.entries(value)
    .map(([field, content]) => `${field}: ${typeof content === "string" ? content : JSON.stringify(content)}`)
    .join("\n");
}

/** Of something new, a member without a value says nothing. */
function withoutNulls(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, content]) => content !== null));
}
