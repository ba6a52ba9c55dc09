/** `audit`: the changes that operators made. */
import { type Command, Option } from "commander";
import * as v from "valibot";
import { AUDIT_CALLS, type AuditCall } from "../../worker/db/values.ts";
import { exactNumber } from "../../worker/exact-json.ts";
import { arrayOf, count, pageOf, pagesOf } from "./answers.ts";
import { beforeQuery, dateOrMoment, digits, textInAddress } from "./arguments.ts";
import { bodyOf, printList, type Session } from "./session.ts";
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

const auditShape = v.object({
  audit: arrayOf(
    v.object({
      at: v.string(),
      actor: v.string(),
      call: v.string(),
      object: v.string(),
      before: v.unknown(),
      after: v.unknown(),
    }),
  ),
  ...pageOf(count),
});

export function addAuditCommand(program: Command, session: () => Session): void {
  program
    .command("audit")
    .description("the changes that operators made, newest first")
    .option(
      "--actor <name>",
      "only the changes of this operator, as the column `who` has the name",
      textInAddress,
    )
    .addOption(
      new Option("--call <call>", "only the changes of this kind, such as bans.lift").choices(AUDIT_CALLS),
    )
    .option("--object <id>", "only the changes of this key, plan, order or import", textInAddress)
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
      await printList(session(), await fetchAudit(session(), query), auditShape, ({ audit, next }) => ({
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

const pageShape = v.object({ audit: arrayOf(v.unknown()), ...pageOf(count) });

/** The first `query.limit` changes that match, as the JSON text of one page: with a filter, a page of the service can be short. */
async function fetchAudit({ client, access }: Session, query: AuditQuery): Promise<string> {
  const limit = Number(query.limit);
  const audit: unknown[] = [];
  let next: number | null = null;
  const pages = pagesOf((before: number | null) => {
    const from = before === null ? {} : { before: String(before) };
    const page = { ...query, ...from, limit: String(Math.min(limit - audit.length, MAX_PAGE_ENTRIES)) };
    // A deleted order in an entry has integers of 64 bits, which keep their digits as `JSON.rawJSON` objects.
    return bodyOf(access, client.audit.$get({ query: page }), pageShape, exactNumber);
  });
  for await (const page of pages) {
    audit.push(...page.audit);
    next = page.next;
    if (audit.length >= limit) break;
  }
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
    .map(([field, content]) => `${field}: ${typeof content === "string" ? content : exactJson(content)}`)
    .join("\n");
}

function exactJson(content: unknown): string {
  return JSON.stringify(content, (_, value) =>
    typeof value === "bigint" ? JSON.rawJSON(String(value)) : value,
  );
}

/** Of something new, a member without a value says nothing. */
function withoutNulls(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, content]) => content !== null));
}
