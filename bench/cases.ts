/** The kinds of request that are measured. */
import { randomBytes } from "node:crypto";
import { insertOrders } from "../test/support/database.ts";
import { type RequestSpec, send } from "./load.ts";
import { BARE, type BenchService, type MeasuredWorker, SERVICE } from "./service.ts";

export const LIST = "/v1/store/orders";
/** Counts like any other request, and needs no query. */
export const NO_SUCH_PATH = "/v1/none";
/** The path of every limiter that is compared. */
export const LIMITED = "/limited";

const LISTED_ORDERS = 1_000;

export type Case = {
  readonly id: string;
  readonly name: string;
  /** The id of the Worker that answers. */
  readonly worker: string;
  readonly spec: RequestSpec;
  readonly status: number;
};

export const HOT_PATH = "hot-path";
/** All cases are compared with this one. */
export const MEMORY_OBJECT = "memory-object";

/** A credential that no limiter has seen. */
export const newCredential = () => `Bearer ${randomBytes(16).toString("hex")}`;

/** The limiters that are compared, the bare route, and a bare D1 query, which an unchanged list needs. */
export function casesOfOthers(workers: readonly MeasuredWorker[]): Case[] {
  const limited = workers.map(({ id, name }) => ({
    id,
    name,
    worker: id,
    spec: { path: LIMITED, headers: id === BARE ? {} : { Authorization: newCredential() } },
    status: 200,
  }));
  const spec = { path: "/query", headers: {} };
  return [...limited, { id: "bare-query", name: "bare D1 query", worker: BARE, spec, status: 200 }];
}

export type Limits = { readonly perMinute: number; readonly perDay: number };

/** Every case has a key of its own, so that no case uses up the quota of another. */
export async function prepareService(service: BenchService, limits: Limits): Promise<Case[]> {
  const url = service.url(SERVICE);
  await insertOrders(service.db, LISTED_ORDERS);
  const key = async () => ({ Authorization: await service.createKey(limits) });
  const banned = await key(); // the only key so far
  await service.db.prepare("update api_keys set banned_until = 4000000000, ban_reason = 'bench'").run();
  const listed = await send(url, { path: LIST, headers: await key() });
  const unchanged = { ...(await key()), "If-None-Match": listed.headers.get("ETag") ?? "" };
  const caseOf = (id: string, name: string, status: number, spec: RequestSpec): Case => ({
    id,
    name: `service: ${name}`,
    worker: SERVICE,
    spec,
    status,
  });
  return [
    caseOf("no-key", "401, no key", 401, { path: LIST, headers: {} }),
    caseOf(HOT_PATH, "hot path", 404, { path: NO_SUCH_PATH, headers: await key() }),
    caseOf("banned", "429, banned", 429, { path: LIST, headers: banned }),
    caseOf("list-304", "list, 304", 304, { path: LIST, headers: unchanged }),
    caseOf("list-cached", "list, 1,000 orders", 200, { path: LIST, headers: await key() }),
  ];
}
