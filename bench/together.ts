/**
 * `--together`: requests of one key at once, here and in another checkout, which runs twice: the second time
 * shows what is noise. Near, a round counts CPU time and requests a second; far, how long a request takes.
 */
import { loadavg } from "node:os";
import { cpuMsOf } from "../test/support/workerd-process.ts";
import { ROOT } from "./build.ts";
import { NO_SUCH_PATH } from "./cases.ts";
import { type Checkout, startCheckout } from "./checkout.ts";
import { askOver } from "./connections.ts";
import type { OnStep } from "./measure.ts";
import { ratiosOf, type Spread, shuffled, spreadOf } from "./statistics.ts";
import { type Column, tableOf } from "./table.ts";

const ROUNDS = 12;
const NEAR = { d1: 0, object: 0 };
const FAR = { d1: 0, object: 40 };
const FAR_PAUSE_MS = 50;
const UNREACHED = { perMinute: 30_000, perDay: 40_000_000 };
const FREE = { perMinute: 60, perDay: 1_000 };
const NAMES = ["base", "again", "here"] as const;
type Name = (typeof NAMES)[number];
type By<T> = Readonly<Record<Name, T>>;

const NEAR_CASES = [
  { name: "admitted", limits: UNREACHED, status: 404, atOnce: 1, requests: 600 },
  { name: "admitted", limits: UNREACHED, status: 404, atOnce: 20, requests: 2_000 },
  { name: "admitted", limits: UNREACHED, status: 404, atOnce: 100, requests: 2_000 },
  { name: "429", limits: { perMinute: 1, perDay: 1 }, status: 429, atOnce: 20, requests: 2_000 },
];
type Case = (typeof NEAR_CASES)[number];
const FAR_CASES = [1, 5, 20, 100].map((atOnce) => ({ atOnce, requests: Math.max(20, 6 * atOnce) }));

type Near = { readonly cpuUs: number; readonly perSecond: number; readonly callsPerRequest: number };
type Far = { readonly latenciesMs: readonly number[]; readonly calls: number; readonly requests: number };

export type TogetherResult = {
  readonly near: readonly { readonly name: string; readonly atOnce: number; readonly rounds: By<Near[]> }[];
  readonly far: readonly { readonly atOnce: number; readonly rounds: By<Far[]> }[];
  /** Written in a Free key's burst of its minute, 20 at once. */
  readonly rows: By<number[]>;
};

export async function measureTogether(baseFolder: string, onStep: OnStep): Promise<TogetherResult> {
  const services: By<Checkout> = {
    base: await startCheckout(baseFolder),
    again: await startCheckout(baseFolder),
    here: await startCheckout(ROOT),
  };
  const inRounds = async <T>(name: string, measure: (service: Checkout) => Promise<T>): Promise<By<T[]>> => {
    const results: By<T[]> = { base: [], again: [], here: [] };
    for (const each of NAMES) await measure(services[each]);
    for (let round = 1; round <= ROUNDS; round++) {
      onStep(`${name}, round ${round} of ${ROUNDS}, load ${loadavg()[0]?.toFixed(1)}`);
      for (const each of shuffled(NAMES)) results[each].push(await measure(services[each]));
    }
    return results;
  };
  try {
    const near: TogetherResult["near"][number][] = [];
    for (const each of NEAR_CASES) {
      const rounds = await inRounds(`${each.name}, ${each.atOnce} at once`, (service) =>
        measureNear(service, each),
      );
      near.push({ name: each.name, atOnce: each.atOnce, rounds });
    }
    const far: TogetherResult["far"][number][] = [];
    for (const each of FAR_CASES) {
      const rounds = await inRounds(`far, ${each.atOnce} at once`, (service) =>
        measureFarAway(service, each),
      );
      far.push({ atOnce: each.atOnce, rounds });
    }
    return { near, far, rows: await inRounds("a Free key's burst", rowsOfFreeBurst) };
  } finally {
    await Promise.all(Object.values(services).map(({ close }) => close()));
  }
}

/** A key of its own: 30,000 a minute are the most that an operator can give. */
async function measureNear(service: Checkout, { limits, status, atOnce, requests }: Case): Promise<Near> {
  const { url, workerd } = service;
  const spec = { path: NO_SUCH_PATH, headers: { Authorization: await service.createKey(limits) } };
  // The object is made and reads its policy, and a limit of 1 is used up.
  await askOver(1, url, spec, { requests: 1, status: 404 });
  await service.takeCosts();
  const beforeMs = workerd ? cpuMsOf(workerd) : Number.NaN;
  const { durationMs } = await askOver(atOnce, url, spec, { requests, status });
  const cpuMs = workerd ? cpuMsOf(workerd) - beforeMs : Number.NaN;
  const { calls } = await service.takeCosts();
  return {
    cpuUs: (1_000 * cpuMs) / requests,
    perSecond: (1_000 * requests) / durationMs,
    callsPerRequest: calls / requests,
  };
}

async function measureFarAway(
  service: Checkout,
  { atOnce, requests }: (typeof FAR_CASES)[number],
): Promise<Far> {
  const spec = { path: NO_SUCH_PATH, headers: { Authorization: await service.createKey(UNREACHED) } };
  await service.setDistance(FAR);
  await askOver(1, service.url, spec, { requests: 1, status: 404 });
  await service.takeCosts();
  const { latenciesMs } = await askOver(atOnce, service.url, spec, {
    requests,
    status: 404,
    pauseMs: FAR_PAUSE_MS,
  });
  const { calls } = await service.takeCosts();
  await service.setDistance(NEAR);
  return { latenciesMs, calls, requests };
}

async function rowsOfFreeBurst(service: Checkout): Promise<number> {
  const spec = { path: NO_SUCH_PATH, headers: { Authorization: await service.createKey(FREE) } };
  await service.takeCosts();
  await askOver(20, service.url, spec, { requests: FREE.perMinute, status: 404 });
  return (await service.takeCosts()).rowsWritten;
}

const ratio = ({ median, low, high }: Spread) =>
  `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

function ratios(rounds: By<Near[]>, figure: (round: Near) => number): By<string> {
  const of = (name: Name) => ratio(ratiosOf(rounds[name].map(figure), rounds.base.map(figure)));
  return { base: "", again: of("again"), here: of("here") };
}

const medianOf = (rounds: readonly Near[], figure: (round: Near) => number) =>
  spreadOf(rounds.map(figure)).median;

/** `share` of all requests of all rounds took no longer. */
function latency(rounds: readonly Far[], share: number): number {
  const sorted = rounds.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

const cpuOf = ({ cpuUs }: Near) => cpuUs;
const rateOf = ({ perSecond }: Near) => perSecond;

const nearColumns: Column<TogetherResult["near"][number]>[] = [
  { head: "one key", cell: ({ name }) => name },
  { head: "at once", cell: ({ atOnce }) => String(atOnce) },
  {
    head: "CPU µs, base → here",
    cell: ({ rounds }) =>
      (["base", "here"] as const).map((name) => medianOf(rounds[name], cpuOf).toFixed(0)).join(" → "),
  },
  { head: "ratio", cell: ({ rounds }) => ratios(rounds, cpuOf).here },
  { head: "base again", cell: ({ rounds }) => ratios(rounds, cpuOf).again },
  {
    head: "requests/s, base → here",
    cell: ({ rounds }) =>
      (["base", "here"] as const).map((name) => medianOf(rounds[name], rateOf).toFixed(0)).join(" → "),
  },
  { head: "ratio", cell: ({ rounds }) => ratios(rounds, rateOf).here },
  { head: "base again", cell: ({ rounds }) => ratios(rounds, rateOf).again },
  {
    head: "object calls a request",
    cell: ({ rounds }) => medianOf(rounds.here, ({ callsPerRequest }) => callsPerRequest).toFixed(2),
  },
];

const farColumns: Column<TogetherResult["far"][number]>[] = [
  { head: "object 40 ms away, at once", cell: ({ atOnce }) => String(atOnce) },
  ...NAMES.map(
    (name): Column<TogetherResult["far"][number]> => ({
      head: `${name}: p50, p95 ms`,
      cell: ({ rounds }) =>
        `${latency(rounds[name], 0.5).toFixed(1)}, ${latency(rounds[name], 0.95).toFixed(1)}`,
    }),
  ),
  ...(["here", "again"] as const).map(
    (name): Column<TogetherResult["far"][number]> => ({
      head: name === "here" ? "ratio p50, p95" : "base again",
      cell: ({ rounds }) =>
        [0.5, 0.95]
          .map((share) => (latency(rounds[name], share) / latency(rounds.base, share)).toFixed(2))
          .join(", "),
    }),
  ),
  {
    head: "object calls a request",
    cell: ({ rounds }) =>
      (
        rounds.here.reduce((sum, { calls }) => sum + calls, 0) /
        rounds.here.reduce((sum, { requests }) => sum + requests, 0)
      ).toFixed(2),
  },
];

export function printTogether({ near, far, rows }: TogetherResult): void {
  console.log(tableOf(nearColumns, near));
  console.log(`\n${tableOf(farColumns, far)}`);
  const [base, here] = [spreadOf(rows.base).median, spreadOf(rows.here).median];
  console.log(
    `\nRows written in a Free key's burst of ${FREE.perMinute}, 20 at once: ${base} → ${here}, ratio ${ratio(ratiosOf(rows.here, rows.base))}.\n` +
      `Medians and quartiles of ${ROUNDS} rounds in random order, each with a key of its own. Ratios are within a round; those of p50 and p95 are of all rounds.`,
  );
}
