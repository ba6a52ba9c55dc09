/** The columns of each list. Fetches and prints the pages of lists. */
import type * as v from "valibot";
import type { BanView } from "../worker/admin/bans/schema.ts";
import { KEY_COLUMNS, type KeyView } from "../worker/admin/keys/schema.ts";
import type { PlanView } from "../worker/admin/plans/schema.ts";
import { saysOf } from "../worker/admin/says.ts";
import type { HourUsageView, usageAnswer } from "../worker/admin/usage/schema.ts";
import { counted } from "../worker/text/format.ts";
import { memberText } from "../worker/text/says.ts";
import { type Query, send, sendForCsv } from "./api.ts";
import type { CliIo } from "./io.ts";
import { inline, minuteOf, printable, type TextColumn, table, toJson } from "./output.ts";
import type { Connection } from "./session.ts";

type List = {
  /** The member of the answer that has the rows. */
  readonly rows: string;
  /** The table leaves out a column without any value. */
  readonly columns: readonly TextColumn[];
  /** Columns that are shown besides if there is room for them in the line, as in a pipe. */
  readonly wide?: readonly TextColumn[];
  /** Returns a line above the table, made of the first page. */
  readonly heading?: (page: never, io: CliIo) => string;
};

export type Paging = {
  readonly limit?: number;
  readonly all?: true;
  readonly csv?: true;
};

const FIGURES = [
  ...["percent", "80%+=daysNear", "peak=peakPercent"],
  ...["admitted", "refused", "blocked=refusedWhileBanned"],
];
type UsageHead = Omit<v.InferOutput<typeof usageAnswer>, "rows">;
const USAGE: List = {
  rows: "rows",
  columns: [
    ...["start", "keyName", "customer=customer.name", "plan", ...FIGURES, "keyId"],
    ["refused in", refusedIn],
  ],
  heading: totalsOf,
};

function totalsOf({ total, ...head }: UsageHead): string {
  return `${spanOf(head)}${total.admitted} admitted, ${total.refused} refused, ${total.refusedWhileBanned} blocked by bans\n`;
}

const DAY: List = {
  rows: "events",
  columns: ["at", "until", "kind", "keyName", "says"],
  heading: totalsOf,
};

function spanOf({ from, to, completeFrom, asOf, unreachable }: Omit<UsageHead, "total">): string {
  const begins = completeFrom === from ? "" : `, usage begins ${minuteOf(completeFrom)}`;
  const missing =
    unreachable.length === 0 ? "" : `The counters of ${unreachable.join(", ")} could not report.\n`;
  return `${minuteOf(from)} to ${minuteOf(to)}${begins}, counted until ${minuteOf(asOf)}\n${missing}`;
}

/** `10:42 minute: 12, ban: 3`, for an hour of one key. */
function refusedIn({ refusedMinutes = [] }: Partial<HourUsageView>): string | null {
  return refusedMinutes.map(({ at, by }) => `${at.slice(11, 16)} ${inline(by)}`).join("; ") || null;
}

/** The column of a member, or of what names it. */
function columnOf({ member, label }: (typeof KEY_COLUMNS)[number]): TextColumn {
  const cellOf = ({ [member]: value }: KeyView): unknown => {
    if (Array.isArray(value)) return value.map(({ hint }) => hint).join(" ");
    if (member === "nextPlan") return value ? memberText(member, value) : null;
    return typeof value === "object" && value !== null && "name" in value ? value.name : value;
  };
  return [label.toLowerCase(), cellOf];
}

/** Lists by the id of their call. */
export const LISTS: Readonly<Record<string, List>> = {
  "links.list": {
    rows: "links",
    columns: [
      "link=id",
      "customer=customer.name",
      "createdAt",
      "by=createdBy",
      "last opened=openedAt",
      "endsAt",
    ],
  },
  "sessions.list": {
    rows: "sessions",
    columns: ["session=id", "operator", "since", "lastUsedAt", "endsAt"],
  },
  "alerts.list": {
    rows: "alerts",
    columns: ["at", "state", "type", "text"],
    heading: ({ receiver }: { receiver: { says: string } | null }) =>
      printable(`${receiver?.says ?? "No webhook is configured."}\n`),
  },
  "audit.list": {
    rows: "audit",
    columns: ["id", "at", "actor", "call", "object=objectName|object", ["change", saysOf]],
  },
  "bans.list": {
    rows: "bans",
    columns: [
      "keyName",
      ["state", ({ live }: BanView) => (live ? "live" : "past")],
      ["why", ({ reason, strikes }: BanView) => reason ?? `${counted(strikes, "second")} over the limit`],
      ...["startedAt", "endsAt", "liftedAt", "liftedBy"],
    ],
  },
  find: { rows: "found", columns: ["kind", "name", "detail", "id"] },
  "customers.list": {
    rows: "customers",
    columns: [
      ...["name", "keys", "80%+=usage.daysNear", "peak=usage.peakPercent"],
      ...["admitted=usage.admitted", "refused=usage.refused", "id"],
    ],
    wide: ["email"],
    heading: (head: UsageHead) => `Use from ${spanOf(head)}`,
  },
  "keys.list": {
    rows: "keys",
    columns: [
      ...KEY_COLUMNS.filter(({ isMinor }) => !isMinor).map(columnOf),
      ["rights", ({ mayCancel }: KeyView) => (mayCancel === false ? "only lists" : null)],
      "id",
    ],
    wide: KEY_COLUMNS.filter(({ isMinor }) => isMinor).map(columnOf),
  },
  "customers.day": DAY,
  "customers.report": { rows: "keys", columns: USAGE.columns, heading: totalsOf },
  "keys.day": DAY,
  "keys.usage": USAGE,
  "orders.cancelled": {
    rows: "cancelled",
    columns: ["id", "petId", "quantity", "cancelledAt", "cancelled by=cancelledByName|cancelledBy"],
  },
  "orders.list": {
    rows: "orders",
    columns: ["id", "status", "petId", "quantity", "shipDate", "complete"],
  },
  "plans.list": {
    rows: "plans",
    columns: [
      "id",
      "requestsPerMinute",
      "requestsPerDay",
      ["alerts at", ({ alertPercents }: PlanView) => alertPercents?.map((each) => `${each}%`).join(" ")],
      "keys",
      "changed=changedAt",
    ],
  },
  "usage.list": USAGE,
};

type Source = { readonly line: string; readonly isPaged: boolean; readonly query: Query };
type Page = { readonly next?: string | null } & Readonly<Record<string, unknown>>;

const WIDE = 200;

/** The largest page of the service. */
const MAX_PAGE_ROWS = 500;

export async function showList(
  { io, access, json }: Connection,
  { line, isPaged, query }: Source,
  list: List,
  { all, limit = all ? Number.POSITIVE_INFINITY : 100, csv }: Paging,
): Promise<void> {
  if (csv && !json) {
    io.stdout.write(await sendForCsv(access, line, query));
    return;
  }
  const pages: Page[] = [];
  const rows: object[] = [];
  let next: string | null | undefined;
  do {
    const page = { limit: Math.min(limit - rows.length, MAX_PAGE_ROWS), after: next };
    const { body } = await send<Page>(access, line, { query: isPaged ? { ...query, ...page } : query });
    pages.push(body);
    rows.push(...(body[list.rows] as readonly object[])); // as the route answers
    next = body.next;
  } while (next && rows.length < limit);
  if (json) {
    io.stdout.write(`${toJson({ ...pages.at(-1), [list.rows]: rows })}\n`);
    return;
  }
  // The heading is made for the pages of this list.
  const above = list.heading ? `${list.heading(pages[0] as never, io)}\n` : "";
  const columns = io.columns < WIDE ? list.columns : [...list.columns, ...(list.wide ?? [])];
  io.stdout.write(`${above}${table(rows, columns, io)}\n`);
  if (next) io.stderr.write("More: --all, or another --limit\n");
}
