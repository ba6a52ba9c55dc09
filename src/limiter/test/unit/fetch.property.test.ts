/** `limitedFetch` against the real decisions and headers, in virtual time. */
import { describe, it } from "vitest";
import { DEEP } from "../../../../test/support/deep.ts";
import { seededRandom } from "../../../../test/support/random.ts";
import { decide, NOTHING_COUNTED } from "../../core/decide.ts";
import { type HeaderOptions, headersOf } from "../../core/headers.ts";
import { perDay, perHour, type RequestLimit } from "../../core/windows.ts";
import { limitedFetch } from "../../fetch.ts";
import { counted, KEY } from "./platform.ts";
import { VirtualTime } from "./virtual-time.ts";

const START = Date.UTC(2026, 10, 21, 10);
/** For ever: a client that waits is not given up. */
const PATIENT = { maxWaitMs: 2 ** 31 - 1, maxWaiting: 1e6 };

type Load = {
  readonly limits: readonly [RequestLimit & { readonly seconds: number }, ...RequestLimit[]];
  readonly headers: HeaderOptions;
  readonly clients: number;
  readonly startMs: number;
  /** The server's clock less the clients' clock. */
  readonly aheadMs: number;
  /** When each request comes, after the start. */
  readonly arrivalsMs: readonly number[];
  readonly wayMs: () => number;
  /** The longest way there and back, with the handling. */
  readonly roundTripMs: number;
  readonly handlingMs: () => number;
  readonly isLost: () => boolean;
};

type Decided = { readonly atMs: number; readonly isAdmitted: boolean; readonly client: number };

/** What the server decided, how many answers were lost, and what the callers got. */
async function run({ limits, headers, clients, startMs, aheadMs, arrivalsMs, ...network }: Load) {
  const time = new VirtualTime(startMs);
  const decided: Decided[] = [];
  let [counters, lost] = [NOTHING_COUNTED, 0];
  const sendOf = (client: number) => async (): Promise<Response> => {
    await time.sleep(network.wayMs());
    const atMs = Math.floor(time.now() + aheadMs);
    const decision = decide(counters, { limits }, KEY, {}, atMs);
    counters = decision.counters;
    const verdict = counted(decision.verdict);
    const isAdmitted = verdict.kind === "admitted";
    decided.push({ atMs, isAdmitted, client });
    if (isAdmitted) await time.sleep(network.handlingMs());
    const date = new Date(time.now() + aheadMs).toUTCString();
    await time.sleep(network.wayMs());
    if (network.isLost()) {
      // A gateway answers, or nobody does.
      if (++lost % 2 === 0) return new Response(null, { status: 502 });
      throw new TypeError("the connection has broken");
    }
    const sent = { Date: date, ...headersOf(verdict, headers) };
    return new Response(null, { status: isAdmitted ? 200 : 429, headers: sent });
  };
  const fetches = Array.from({ length: clients }, (_, client) =>
    limitedFetch({ fetch: sendOf(client), clock: time, ...PATIENT }),
  );
  const answers: Promise<number>[] = [];
  for (const [i, arrivalMs] of arrivalsMs.entries())
    time.setTimer(() => {
      const answer = fetches[i % clients]?.("https://api.example/");
      answers.push(
        Promise.resolve(answer).then(
          (got) => got?.status ?? 0,
          () => 0,
        ),
      );
    }, arrivalMs);
  await time.run();
  return { decided, lost, statuses: await Promise.all(answers) };
}

/** Up to four times the limit, at once or over up to four windows. */
function loadOf(seed: number, clients: number): Load {
  const random = seededRandom(seed);
  const pick = <T>(all: readonly [T, ...T[]]): T => all[Math.floor(random() * all.length)] ?? all[0];
  const requests = pick([1, 2, 5, 20, 60]);
  const short = { name: "short", requests, seconds: pick([1, 2, 5, 10, 60]) };
  const spreadMs = short.seconds * 1000 * pick([0, 0.2, 1, 4]);
  const wayMs = pick([5, 50, 500, 3_000]);
  const handlingMs = pick([0, 0, 50, 5_000, 90_000]);
  const losses = pick([0, 0, 0.05]);
  return {
    limits: pick<Load["limits"]>([
      [short],
      [short, perDay(requests * 3)],
      [short, perHour(requests * 2), perDay(requests * 3)],
    ]),
    headers: pick<HeaderOptions>([{}, { xRateLimit: false }, { rateLimit: false }]),
    clients,
    startMs: START + random() * 60_000,
    aheadMs: (random() - 0.5) * 1e7,
    arrivalsMs: Array.from(
      { length: Math.ceil(requests * clients * 4 * random()) },
      () => random() * spreadMs,
    ),
    wayMs: () => wayMs * random() ** 3,
    roundTripMs: 2 * wayMs + handlingMs,
    handlingMs: () => handlingMs * random() ** 2,
    isLost: () => random() < losses,
  };
}
/** Where a queue waited since 60 % of a window was over: how many were admitted, and how many could be. */
function filledWindows({ limits, arrivalsMs, startMs, aheadMs }: Load, decided: readonly Decided[]) {
  const admitted = decided.filter(({ isAdmitted }) => isAdmitted).map(({ atMs }) => atMs);
  const inside = (times: readonly number[], fromMs: number, untilMs: number) =>
    times.filter((atMs) => fromMs <= atMs && atMs < untilMs).length;
  const arrivals = arrivalsMs.map((ms) => startMs + aheadMs + ms);
  const [first = 0, last = 0] = [admitted[0], admitted.at(-1)];
  const lengthMs = limits[0].seconds * 1000;
  const filled: { readonly used: number; readonly limit: number }[] = [];
  for (let atMs = Math.ceil(first / lengthMs) * lengthMs; atMs + lengthMs <= last; atMs += lengthMs) {
    const left = limits.map(({ requests, seconds }) => {
      const ms = Number(seconds) * 1000;
      return requests - inside(admitted, Math.floor(atMs / ms) * ms, atMs);
    });
    const limit = Math.min(...left);
    const came = inside(arrivals, 0, atMs + 0.6 * lengthMs) - inside(admitted, 0, atMs);
    if (limit > 0 && came >= limit) filled.push({ used: inside(admitted, atMs, atMs + lengthMs), limit });
  }
  return filled;
}

describe("a client alone", () => {
  it("is not refused, and uses the whole limit", { timeout: 1_200_000 }, async ({ expect }) => {
    let windows = 0;
    for (let seed = 0; seed < (DEEP ? 10_000 : 150); seed++) {
      const load = loadOf(seed, 1);
      const { decided, lost, statuses } = await run(load);
      const refused = decided.filter(({ isAdmitted }) => !isAdmitted).length;
      // A request without an answer may have taken the last place.
      expect(refused, `load ${seed}`).toBeLessThanOrEqual(lost);
      expect(statuses.filter((status) => status !== 200).length, `load ${seed}`).toBe(lost);
      // In shorter windows, or with slower answers, what is known comes too late.
      const { seconds } = load.limits[0];
      if (lost > 0 || seconds < 5 || load.roundTripMs > 0.05 * seconds * 1000) continue;
      for (const { used, limit } of filledWindows(load, decided)) {
        windows++;
        expect(used, `load ${seed}`).toBeGreaterThanOrEqual(0.98 * limit);
      }
    }
    expect(windows).toBeGreaterThan(10);
  });
});

describe("clients of one key", () => {
  it("are refused an eighth of the limit at most, each in a window, once they have met", {
    timeout: 1_200_000,
  }, async ({ expect }) => {
    let [places, refusals] = [0, 0];
    for (let seed = 0; seed < (DEEP ? 1_000 : 50); seed++) {
      const load = loadOf(seed, 2 + (seed % 7));
      const [limit] = load.limits;
      const { requests, seconds } = limit;
      // Six windows full, which come at once or in two or three windows.
      const gapMs = seconds * 1000 * (seed % 3);
      const arrivalsMs = Array.from({ length: requests * 6 }, (_, i) => (i % 2) * gapMs);
      const quick = {
        limits: [limit],
        arrivalsMs,
        wayMs: () => load.wayMs() / 50,
        handlingMs: () => 0,
      } as const;
      const { decided, statuses } = await run({ ...load, ...quick, isLost: () => false });
      expect(new Set(statuses), `load ${seed}`).toEqual(new Set([200]));
      const windowOf = ({ atMs }: Decided) => Math.floor(atMs / (seconds * 1000));
      const most = Math.max(1, Math.floor(requests / 8));
      for (let client = 0; client < load.clients; client++) {
        const refused = decided.filter((each) => each.client === client && !each.isAdmitted).map(windowOf);
        const after = refused.filter((window) => window !== refused[0]);
        for (const window of after)
          expect(after.filter((other) => other === window).length, `load ${seed}`).toBeLessThanOrEqual(most);
        refusals += after.length;
        places += new Set(decided.map(windowOf)).size;
      }
    }
    // Somebody has to meet the end of the limit.
    expect(refusals / places).toBeLessThan(1);
  });
});
