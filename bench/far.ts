/**
 * `--far`: lists of a service whose D1 is 80 ms away and whose objects are 40 ms away, beside another checkout
 * of the service in the same run. Cold is an isolate without MAC keys and without a list.
 */
import { setTimeout as pause } from "node:timers/promises";
import { insertOrders } from "../test/support/database.ts";
import { ROOT } from "./build.ts";
import { LIST } from "./cases.ts";
import { startCheckout } from "./checkout.ts";
import { send } from "./load.ts";
import type { OnStep } from "./measure.ts";
import { shuffled, spreadOf } from "./statistics.ts";
import { type Column, tableOf } from "./table.ts";

const FAR = { d1: 80, object: 40 };
const ORDERS = 1_000;
const ROUNDS = 6;
const PAUSE_MS = 100;
const LIMITS = { perMinute: 30_000, perDay: 30_000_000 };

type Times = { readonly p50: number; readonly p95: number; readonly queries: number };
export type FarResult = {
  readonly name: string;
  readonly atOnce: number;
  readonly here: Times;
  readonly base: Times;
};

const CASES = [
  { name: "304", isCold: false, hasTag: true, atOnce: 1 },
  { name: "304", isCold: false, hasTag: true, atOnce: 5 },
  { name: "304", isCold: false, hasTag: true, atOnce: 20 },
  { name: "1,000 orders", isCold: false, hasTag: false, atOnce: 1 },
  { name: "1,000 orders", isCold: false, hasTag: false, atOnce: 5 },
  { name: "1,000 orders", isCold: false, hasTag: false, atOnce: 20 },
  { name: "1,000 orders, cold", isCold: true, hasTag: false, atOnce: 1 },
  { name: "1,000 orders, cold", isCold: true, hasTag: false, atOnce: 20 },
];

export async function measureFar(baseFolder: string, onStep: OnStep): Promise<FarResult[]> {
  const services = { here: await startFar(ROOT), base: await startFar(baseFolder) };
  try {
    const results: FarResult[] = [];
    for (const each of CASES) {
      onStep(`${each.name}, ${each.atOnce} at once`);
      const rounds = { here: [] as Round[], base: [] as Round[] };
      for (let round = 0; round < ROUNDS; round++)
        for (const which of shuffled(["here", "base"] as const))
          rounds[which].push(await services[which].measure(each));
      results.push({
        name: each.name,
        atOnce: each.atOnce,
        here: timesOf(rounds.here),
        base: timesOf(rounds.base),
      });
    }
    return results;
  } finally {
    await Promise.all(Object.values(services).map(({ close }) => close()));
  }
}

type Round = { readonly latenciesMs: readonly number[]; readonly queries: number };

function timesOf(rounds: readonly Round[]): Times {
  const all = rounds.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
  const queries = rounds.reduce((sum, round) => sum + round.queries, 0) / all.length;
  return { p50: spreadOf(all).median, p95: all[Math.floor(all.length * 0.95)] ?? Number.NaN, queries };
}

async function startFar(folder: string) {
  const service = await startCheckout(folder);
  const { url } = service;
  await insertOrders(service.db, ORDERS);
  const headers = { Authorization: await service.createKey(LIMITS) };
  const list = (tag?: string) =>
    send(url, {
      path: LIST,
      headers: { ...headers, ...(tag === undefined ? {} : { "If-None-Match": tag }) },
    });
  const tag = (await list()).headers.get("ETag") ?? "";
  await service.setDistance(FAR);

  const timed = async (expected: number, hasTag: boolean) => {
    const sentAtMs = performance.now();
    const { status } = await list(hasTag ? tag : undefined);
    if (status !== expected) throw new Error(`a list got ${status}`);
    return performance.now() - sentAtMs;
  };
  return {
    close: service.close,
    measure: async ({ isCold, hasTag, atOnce }: (typeof CASES)[number]): Promise<Round> => {
      const times = isCold ? 1 : 12;
      await service.takeCosts();
      const client = async () => {
        const latenciesMs: number[] = [];
        for (let i = 0; i < times; i++) {
          if (!isCold) await pause(Math.random() * PAUSE_MS);
          latenciesMs.push(await timed(hasTag ? 304 : 200, hasTag));
        }
        return latenciesMs;
      };
      if (isCold) await service.makeCold();
      const latenciesMs = (await Promise.all(Array.from({ length: atOnce }, client))).flat();
      const { queries } = await service.takeCosts();
      return { latenciesMs, queries };
    },
  };
}

export function printFar(results: readonly FarResult[]): void {
  const ratio = (part: "p50" | "p95") => (each: FarResult) => (each.here[part] / each.base[part]).toFixed(2);
  const ms = (which: "here" | "base") => (each: FarResult) =>
    `${Math.round(each[which].p50)}, ${Math.round(each[which].p95)}`;
  const columns: Column<FarResult>[] = [
    { head: "request", cell: ({ name }) => name },
    { head: "at once", cell: ({ atOnce }) => String(atOnce) },
    { head: "base p50, p95 ms", cell: ms("base") },
    { head: "here", cell: ms("here") },
    { head: "ratio p50", cell: ratio("p50") },
    { head: "ratio p95", cell: ratio("p95") },
    {
      head: "D1 queries a request",
      cell: ({ base, here }) => `${base.queries.toFixed(2)} → ${here.queries.toFixed(2)}`,
    },
  ];
  console.log(tableOf(columns, results));
}
