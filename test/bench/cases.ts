/** The kinds of request that are measured. */
import { randomBytes } from "node:crypto";
import { insertOrders } from "./database.ts";
import { type RequestSpec, send } from "./load.ts";
import { BARE, type BenchService, type MeasuredWorker, SERVICE } from "./service.ts";

export const LIST = "/v1/store/orders";
/** Counts like any other request, and needs no query. */
export const NO_SUCH_PATH = "/v1/none";
/** Of every limiter that is compared. */
export const LIMITED = "/limited";

const LISTED_ORDERS = 1_000;

export type Case = {
  readonly id: string;
  readonly name: string;
  /** The id of the Worker that answers. */
  readonly worker: string;
  readonly spec: RequestSpec;
  readonly status: number;
  /** Gives the request of the next round, if this one's does not last: a first ban ends after five minutes. */
  readonly renew?: () => Promise<RequestSpec>;
};

/** With the bare route, what others are compared with. */
export const HOT_PATH = "hot-path";

export const SERVICE_CASE_COUNT = 5;

/** A credential that no limiter has seen. */
export const newCredential = () => `Bearer ${randomBytes(16).toString("hex")}`;

/** The bare route and the limiters that are compared. */
export function casesOfOthers(workers: readonly MeasuredWorker[]): Case[] {
  return workers.map(({ id, name }) => ({
    id,
    name,
    worker: id,
    spec: { path: LIMITED, headers: id === BARE ? {} : { Authorization: newCredential() } },
    status: 200,
  }));
}

export type Limits = { readonly perMinute: number; readonly perDay: number };

/** Every case has a key of its own, so that no case uses up the quota of another. */
export async function prepareService(service: BenchService, limits: Limits): Promise<Case[]> {
  const url = service.url(SERVICE);
  await insertOrders(service.db, LISTED_ORDERS);
  const key = async (perMinute = limits.perMinute) => ({
    Authorization: await service.createKey({ ...limits, perMinute }),
  });
  const listed = await send(url, { path: LIST, headers: await key() });
  const unchanged = { ...(await key()), "If-None-Match": listed.headers.get("ETag") ?? "" };
  const banned = async () => {
    const headers = await key(1);
    await untilBanned(url, headers);
    return { path: LIST, headers };
  };
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
    { ...caseOf("banned", "429, banned", 429, await banned()), renew: banned },
    caseOf("list-304", "list, 304", 304, { path: LIST, headers: unchanged }),
    caseOf("list-cached", "list, 1,000 orders", 200, { path: LIST, headers: await key() }),
  ];
}

/** Polls until the key is banned, so that every later request is answered 429 for minutes. */
async function untilBanned(url: URL, headers: Record<string, string>): Promise<void> {
  for (let polls = 0; polls < 200; polls++) {
    if ((await send(url, { path: LIST, headers })).body.includes("key_banned")) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the limiter did not ban within 200 polls");
}
