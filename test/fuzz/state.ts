/** What is stored, before and after a batch: only requests that were accepted may have changed it. */
import type { Database } from "../support/database.ts";
import type { Exchange } from "./exchange.ts";
import { methodOf } from "./input.ts";

/** What requests change, by table: the key of a row, the object that the audit names, and the columns. */
const TABLES = {
  // The counts of a plan's keys are made by triggers.
  plans: ["id", "id", "requests_per_minute, requests_per_day, version"],
  api_keys: ["id", "id", "*"],
  key_secrets: ["hash", "key_id", "*"],
  bans: ["id", "key_id", "*"],
  customers: ["id", "id", "*"],
  orders: ["id", "id", "*"],
  cancelled_orders: ["id", "request_id", "*"],
} as const;

type Row = { readonly object: string; readonly text: string };
type AuditRow = { readonly requestId: string; readonly call: string; readonly object: string };

export type Snapshot = {
  readonly rows: ReadonlyMap<string, Row>;
  readonly lastAuditId: number;
};

export async function takeSnapshot(db: Database): Promise<Snapshot> {
  const names = Object.keys(TABLES);
  const [last, ...tables] = await db.batch([
    db.prepare("select coalesce(max(id), 0) as id from audit_log"),
    ...Object.entries(TABLES).map(([table, [key, object, columns]]) =>
      db.prepare(
        `select cast(${key} as text) as rowKey, cast(${object} as text) as rowObject, ${columns} from ${table}`,
      ),
    ),
  ]);
  const rows = tables.flatMap(({ results }, i) =>
    results.map((row): [string, Row] => [
      `${names[i]} ${row.rowKey}`,
      { object: String(row.rowObject), text: JSON.stringify(row) },
    ]),
  );
  return { rows: new Map(rows), lastAuditId: Number(last?.results[0]?.id) };
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
  // The keys and bans of a customer are not objects of its entry.
  const ofCustomers = entries.some(({ call }) => /^customers\.(merge|erase)$/.test(call))
    ? /^(api_keys|bans) /
    : /^$/;
  const explained = new Set([...accepted, ...entries.map(({ object }) => object)]);
  for (const key of new Set([...before.rows.keys(), ...after.rows.keys()])) {
    const [old, now] = [before.rows.get(key), after.rows.get(key)];
    if (old?.text === now?.text) continue;
    const isOfOthers = (storesOrders && key.startsWith("orders ")) || ofCustomers.test(key);
    if (isOfOthers || explained.has(old?.object ?? "") || explained.has(now?.object ?? "")) continue;
    return `${key} changed from ${old?.text} to ${now?.text}`;
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
