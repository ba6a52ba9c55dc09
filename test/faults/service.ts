/** Isolates of the Worker under test, with one D1, two replicas of the orders, and one class of limiters. */
import { join } from "node:path";
import type { Database } from "../support/database.ts";
import type { SqlStatement } from "../support/mint.ts";
import { scriptModule } from "../support/worker-modules.ts";
import { bundle, startWorkerd } from "../support/workerd.ts";

export { ADMIN_TOKEN } from "../support/workerd.ts";

export const buildWorker = () => bundle(join(import.meta.dirname, "worker/index.ts"));

const REPLICAS = { DB_REPLICA_1: "replica-1", DB_REPLICA_2: "replica-2" };

export type FaultService = Awaited<ReturnType<typeof startFaultService>>;

export type ServiceOptions = {
  readonly isolates: number;
  /** Where storage is kept. Without it, storage ends with the service. */
  readonly folder?: string;
};

export async function startFaultService(script: string, options: ServiceOptions) {
  const { urls, db, openDatabase, close } = await startWorkerd({
    ...options,
    modules: [scriptModule(script)],
    databases: REPLICAS,
  });
  const replicas = await Promise.all(Object.keys(REPLICAS).map(openDatabase));
  for (const replica of replicas) await replica.batch(REPLICA.map((statement) => replica.prepare(statement)));
  const replicate = (number: number) => copyOrders(db, replicas[number] ?? db);
  return { urls, ...controlOf(urls), replicate, close };
}

/** What a list reads. */
const REPLICA = [
  "create table if not exists orders (id integer primary key, json text not null)",
  "create view if not exists order_json as select id, json from orders",
  "create table if not exists order_changes (revision integer primary key, order_id integer, token text)",
];

/** Brings a replica up to date. */
async function copyOrders(primary: Database, replica: Database): Promise<void> {
  const last = await replica.prepare("select max(revision) as n from order_changes").first<number>("n");
  const [orders, changes] = await primary.batch<{ rows: string }>([
    primary.prepare("select json_group_array(json_array(cast(id as text), json)) as rows from order_json"),
    primary
      .prepare(
        "select json_group_array(json_array(revision, cast(order_id as text), token)) as rows from order_changes where revision > ?",
      )
      .bind(last ?? 0),
  ]);
  await replica.batch([
    replica.prepare("delete from orders"),
    replica
      .prepare("insert into orders select cast(value ->> 0 as integer), value ->> 1 from json_each(?)")
      .bind(orders?.results[0]?.rows),
    replica
      .prepare(
        "insert into order_changes select value ->> 0, cast(value ->> 1 as integer), value ->> 2 from json_each(?)",
      )
      .bind(changes?.results[0]?.rows),
  ]);
}

/** What a test needs of a running service beside requests of clients and operators. */
export function controlOf(urls: readonly URL[]) {
  const control = async (name: string, body: object, isolate = 0): Promise<unknown> => {
    const init = { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(new URL(`/__test/${name}`, urls[isolate]), init);
    if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  // D1 answers with the rows of each statement.
  const sql = (...statements: SqlStatement[]) => control("sql", { statements }) as Promise<SqlRow[][]>;
  return { control, sql };
}

export type SqlRow = Record<string, string | number | null>;
