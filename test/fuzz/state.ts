/** What is stored, before and after a batch: only requests that were accepted may have changed it. */
import type { Database } from "../support/database.ts";
import type { Exchange } from "./exchange.ts";
import { methodOf } from "./input.ts";

/** The columns that requests change, by table; the first one is the key, the second one the object that the audit names. */
const TABLES = {
  plans: ["id", "id", "requests_per_minute", "requests_per_day"],
  api_keys: [
    "id",
    "id",
    "name",
    "owner_name",
    "owner_email",
    "note",
    "plan",
    "requests_per_minute",
    "requests_per_day",
    "status",
    "expires_at",
    "version",
  ],
  key_secrets: ["hash", "key_id", "hint", "expires_at"],
  bans: ["id", "key_id", "ends_at", "cause", "reason", "lifted_at"],
  orders: ["id", "id", "pet_id", "quantity", "ship_date", "complete", "status"],
  cancelled_orders: ["id", "request_id"],
} as const;

type Row = { readonly object: string; readonly json: string };
type AuditRow = { readonly requestId: string; readonly call: string; readonly object: string };

export type Snapshot = {
  readonly rows: ReadonlyMap<string, Row>;
  readonly lastAuditId: number;
};

export async function takeSnapshot(db: Database): Promise<Snapshot> {
  const tables = Object.entries(TABLES).map(([table, columns]) => {
    const [key, object] = columns;
    const row = `json_array('${table} ' || ${key}, cast(${object} as text), json_array(${columns.join()}) || '')`;
    return `(select json_group_array(${row}) from ${table}) as ${table}`;
  });
  const taken = await db
    .prepare(`select (select coalesce(max(id), 0) from audit_log) as lastAuditId, ${tables.join()}`)
    .first<Record<keyof typeof TABLES, string> & { lastAuditId: number }>();
  if (!taken) throw new Error("SQLite gave no row");
  const { lastAuditId, ...texts } = taken;
  const rows = Object.values(texts).flatMap((text) => JSON.parse(text) as [string, string, string][]); // as selected
  return { rows: new Map(rows.map(([key, object, json]) => [key, { object, json }])), lastAuditId };
}

/** Undefined if only accepted requests have changed something. */
export async function unexplainedChange(
  db: Database,
  before: Snapshot,
  after: Snapshot,
  exchanges: readonly Exchange[],
): Promise<string | undefined> {
  const accepted = acceptedIn(exchanges);
  const { results: entries } = await db
    .prepare("select request_id as requestId, call, object from audit_log where id > ?")
    .bind(before.lastAuditId)
    .all<AuditRow>();
  const storesOrders = exchanges.some((each) => isLoad(each) && !isRefused(each));
  const isExplained = ({ requestId, call }: AuditRow) =>
    accepted.has(requestId) || (call === "orders.load" && storesOrders);
  const stranger = entries.find((entry) => !isExplained(entry));
  if (stranger) return `an audit row of a refused request: ${JSON.stringify(stranger)}`;
  const explained = new Set([...accepted, ...entries.map(({ object }) => object)]);
  for (const key of new Set([...before.rows.keys(), ...after.rows.keys()])) {
    const [old, now] = [before.rows.get(key), after.rows.get(key)];
    if (old?.json === now?.json) continue;
    const isOfLoad = storesOrders && key.startsWith("orders ");
    if (isOfLoad || explained.has(old?.object ?? "") || explained.has(now?.object ?? "")) continue;
    return `${key} changed from ${old?.json} to ${now?.json}`;
  }
  return undefined;
}

function isLoad({ input }: Exchange): boolean {
  return input.requestLine.startsWith("PUT /admin/orders");
}

function isRefused({ answers }: Exchange): boolean {
  return answers.length > 0 && answers.every(({ status }) => status >= 300);
}

/** The ids of the requests that may have changed something, and the orders that clients cancelled. */
function acceptedIn(exchanges: readonly Exchange[]): Set<string> {
  const accepted = new Set<string>();
  for (const { input, answers } of exchanges) {
    for (const { status, headers } of answers) {
      if (["GET", "HEAD"].includes(methodOf(input)) || status >= 300) continue;
      accepted.add(headers.get("x-request-id") ?? "");
      const cancelled = status === 204 && /\/orders\/(-?\d+)/.exec(input.requestLine)?.[1];
      if (cancelled) accepted.add(cancelled);
    }
  }
  return accepted;
}
