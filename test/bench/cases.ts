/** The kinds of request that are measured. */
import { insertOrders } from "./database.ts";
import { type RequestSpec, send } from "./load.ts";
import { RIVAL_IDS, RIVALS, rivalPath, UNREACHED_LIMIT } from "./rivals/names.ts";
import type { BenchService } from "./service.ts";

export const LIST = "/v1/store/orders";
/** Counts like any other request, and needs no query. */
export const NO_SUCH_PATH = "/v1/none";

const LISTED_ORDERS = 1_000;

export type Case = {
  readonly id: string;
  readonly name: string;
  readonly spec: RequestSpec;
  readonly status: number;
  /** Gives the request of the next round, if this one's does not last: a first ban ends after five minutes. */
  readonly renew?: () => Promise<RequestSpec>;
};

/** The two that others are compared with. */
export const BARE = "bare";
export const HOT_PATH = "hot-path";

export const CASE_COUNT = 6 + RIVAL_IDS.length;

/** The cases that use none of our limiters. */
export async function prepareOthers(service: BenchService): Promise<Case[]> {
  const rivals = RIVAL_IDS.map(async (id) => ({
    id,
    name: RIVALS[id],
    spec: {
      path: rivalPath(id, UNREACHED_LIMIT),
      headers: { Authorization: await service.createRivalKey(UNREACHED_LIMIT) },
    },
    status: 200,
  }));
  return [
    { id: BARE, name: "bare Hono route", spec: { path: "/bench/bare", headers: {} }, status: 200 },
    ...(await Promise.all(rivals)),
    { id: "no-key", name: "ours: 401, no key", spec: { path: LIST, headers: {} }, status: 401 },
  ];
}

export type Limits = { readonly perMinute: number; readonly perDay: number };

/** Every case has a key of its own, so that no case uses up the quota of another. */
export async function prepareOurs(service: BenchService, limits: Limits): Promise<Case[]> {
  await insertOrders(service.db, LISTED_ORDERS);
  const key = async (perMinute = limits.perMinute) => ({
    Authorization: await service.createKey({ ...limits, perMinute }),
  });
  const listed = await send(service.url, { path: LIST, headers: await key() });
  const unchanged = { ...(await key()), "If-None-Match": listed.headers.get("ETag") ?? "" };
  const banned = async () => {
    const headers = await key(1);
    await untilBanned(service.url, headers);
    return { path: LIST, headers };
  };
  return [
    {
      id: HOT_PATH,
      name: "ours: hot path",
      spec: { path: NO_SUCH_PATH, headers: await key() },
      status: 404,
    },
    { id: "banned", name: "ours: 429, banned", spec: await banned(), status: 429, renew: banned },
    { id: "list-304", name: "ours: list, 304", spec: { path: LIST, headers: unchanged }, status: 304 },
    {
      id: "list-cached",
      name: `ours: list, ${LISTED_ORDERS.toLocaleString("en")} orders, cached`,
      spec: { path: LIST, headers: await key() },
      status: 200,
    },
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
