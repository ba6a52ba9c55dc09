/** The kinds of request that are measured. */
import { type RequestSpec, send } from "./load.ts";
import { type BenchService, LISTED_ORDERS } from "./service.ts";

const LIST = "/v1/store/orders";

export type Case = {
  readonly id: string;
  readonly name: string;
  readonly spec: RequestSpec;
  readonly status: number;
};

/** The two that others are compared with. */
export const BARE = "bare";
export const HOT_PATH = "hot-path";

/** Every case has a key of its own, so that no case uses up the quota of another. */
export async function prepareCases(
  service: BenchService,
  limits: { perMinute: number; perDay: number },
): Promise<Case[]> {
  const key = async (perMinute = limits.perMinute) => ({
    Authorization: `Bearer ${await service.createKey({ ...limits, perMinute })}`,
  });
  const listed = await send(service.url, { path: LIST, headers: await key() });
  const unchanged = { ...(await key()), "If-None-Match": listed.headers.get("ETag") ?? "" };
  const banned = await key(1);
  await untilBanned(service.url, banned);
  return [
    { id: BARE, name: "bare Hono route", spec: { path: "/bench/bare", headers: {} }, status: 200 },
    {
      id: "memory-object",
      name: "memory-only object call",
      spec: { path: "/bench/memory-object", headers: {} },
      status: 200,
    },
    { id: "no-key", name: "401, no key", spec: { path: LIST, headers: {} }, status: 401 },
    {
      id: HOT_PATH,
      name: "hot path: authenticated, counted",
      spec: { path: "/v1/none", headers: await key() },
      status: 404,
    },
    { id: "banned", name: "429, banned", spec: { path: LIST, headers: banned }, status: 429 },
    { id: "list-304", name: "list, 304", spec: { path: LIST, headers: unchanged }, status: 304 },
    {
      id: "list-cached",
      name: `list, ${LISTED_ORDERS.toLocaleString("en")} orders, cached`,
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
