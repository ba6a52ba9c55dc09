/** `--regions`: which calls each kind of request waits for, one after the other, and what distance adds. */
import { setTimeout } from "node:timers/promises";
import { insertOrders } from "../test/support/database.ts";
import { inventKey } from "../test/support/mint.ts";
import { LIST } from "./cases.ts";
import { send } from "./load.ts";
import type { OnStep } from "./measure.ts";
import { type BenchService, type MeasuredWorker, SERVICE, startBench } from "./service.ts";
import { type Column, tableOf } from "./table.ts";
import type { RemoteCall } from "./worker/trace.ts";

/** Assumed round trips in milliseconds: within a region, and between two continents. */
export const ROUND_TRIP_MS = { near: 10, far: 160 } as const;

type Distance = keyof typeof ROUND_TRIP_MS;

/** Replicas of D1 are in every region, so the nearest copy is always near. */
const PLACEMENTS: readonly {
  readonly name: string;
  readonly limiter: Distance;
  readonly primary: Distance;
}[] = [
  { name: "all near", limiter: "near", primary: "near" },
  { name: "primary far", limiter: "near", primary: "far" },
  { name: "both far", limiter: "far", primary: "far" },
];

export type RegionResult = {
  readonly name: string;
  /** One after the other. */
  readonly before: readonly RemoteCall[];
  readonly after: readonly RemoteCall[];
};

/** A request, and what happens before it that it is not charged for. */
type Step = {
  readonly name: string;
  readonly isolate?: URL;
  prepare?(): Promise<unknown>;
  send(): Promise<unknown>;
};

const ADMIN_TOKEN = "only-for-the-bench-0123456789-abcdef";
const ORDERS = 1_000;
/** An object without requests is evicted after ten seconds. */
const EVICTED_AFTER_MS = 15_000;

/** The calls without read replication and with it. */
export async function measureRegions(service: MeasuredWorker, onStep: OnStep): Promise<RegionResult[]> {
  const before = await traceSteps(service, "disabled", onStep);
  const after = await traceSteps(service, "auto", onStep);
  return before.map(({ name, calls }, i) => ({ name, before: calls, after: after[i]?.calls ?? [] }));
}

async function traceSteps(worker: MeasuredWorker, mode: string, onStep: OnStep) {
  const service = await startBench({
    workers: [worker],
    isCounting: true,
    hasSecondIsolate: true,
    vars: { D1_READ_REPLICATION: mode, ADMIN_TOKEN },
  });
  try {
    await insertOrders(service.db, ORDERS);
    const traces: { name: string; calls: RemoteCall[] }[] = [];
    for (const { name, isolate = service.url(SERVICE), prepare, send } of await stepsOf(service)) {
      onStep(name);
      await prepare?.();
      await takeTrace(isolate);
      await send();
      traces.push({ name, calls: await takeTrace(isolate) });
    }
    return traces;
  } finally {
    await service.close();
  }
}

async function takeTrace(isolate: URL): Promise<RemoteCall[]> {
  const { body } = await send(isolate, { path: "/bench/trace", headers: {} });
  return JSON.parse(body) as RemoteCall[]; // made by the bench Worker from a value of this type
}

/** Each step leads to the state that the next one needs. */
async function stepsOf({ url: urlOf, urls, db, createKey }: BenchService): Promise<Step[]> {
  const url = urlOf(SERVICE);
  const [, other = url] = urls(SERVICE);
  const headers = { Authorization: await createKey({ perMinute: 1_000, perDay: 100_000 }) };
  const id = await db.prepare("select id from api_keys").first<string>("id");
  const invented = `Bearer ${await inventKey()}`;
  const list = (isolate = url) => send(isolate, { path: LIST, headers });
  const cancelByAnother = (order: number) => db.prepare("delete from orders where id = ?").bind(order).run();
  return [
    { name: "first use of the key", send: () => list() },
    { name: "list, unchanged", send: () => list() },
    {
      name: "list, after a pause in which the key's object was evicted",
      prepare: () => setTimeout(EVICTED_AFTER_MS),
      send: () => list(),
    },
    { name: "list, after another key's cancel", prepare: () => cancelByAnother(1), send: () => list() },
    { name: "cancel", send: () => send(url, { path: `${LIST}/2`, headers }, "DELETE") },
    { name: "list, after its own cancel", send: () => list() },
    { name: "first list in another isolate", isolate: other, send: () => list(other) },
    {
      name: "list, after an operator's change of the key",
      prepare: () => raiseLimit(url, id),
      send: () => list(),
    },
    {
      name: "invented key: 401",
      send: () => send(url, { path: LIST, headers: { Authorization: invented } }),
    },
  ];
}

async function raiseLimit(url: URL, keyId: string | null): Promise<void> {
  const response = await fetch(new URL(`/admin/keys/${keyId}`, url), {
    method: "PATCH",
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify({ requestsPerMinute: 1_001 }),
  });
  if (!response.ok) throw new Error(`the key could not be changed: ${response.status}`);
}

/** What a request waits for its calls, one after the other. */
function waitMs(calls: readonly RemoteCall[], placement: (typeof PLACEMENTS)[number]): number {
  const distances = { limiter: placement.limiter, primary: placement.primary, nearest: "near" } as const;
  return calls.reduce((sum, call) => sum + ROUND_TRIP_MS[distances[call]], 0);
}

export function printRegions(results: readonly RegionResult[]): void {
  const columns: Column<RegionResult>[] = [
    { head: "request", cell: ({ name }) => name },
    { head: "calls, without replicas", cell: ({ before }) => textOf(before) },
    { head: "with replicas", cell: ({ after }) => textOf(after) },
    ...PLACEMENTS.map((placement) => ({
      head: `${placement.name}, ms`,
      cell: ({ before, after }: RegionResult) => `${waitMs(before, placement)} → ${waitMs(after, placement)}`,
    })),
  ];
  console.log(tableOf(columns, results));
  console.log(
    `\nAssumed: ${ROUND_TRIP_MS.near} ms to what is near, ${ROUND_TRIP_MS.far} ms to another continent; the nearest copy of D1 is near, and has ` +
      "what the session needs.\nPrimary far: the limiter was created near this client. Both far: the key is used on two continents.",
  );
}

/** `limiter, 2 × primary`. */
function textOf(calls: readonly RemoteCall[]): string {
  const runs: { call: RemoteCall; times: number }[] = [];
  for (const call of calls) {
    const last = runs.at(-1);
    if (last?.call === call) last.times++;
    else runs.push({ call, times: 1 });
  }
  return runs.map(({ call, times }) => (times === 1 ? call : `${times} × ${call}`)).join(", ") || "none";
}
