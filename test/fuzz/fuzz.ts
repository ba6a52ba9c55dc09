/** Sends random batches of inputs, and checks answers, state, log and memory. fast-check shrinks a batch. */
import fc from "fast-check";
import type { Found, Plan } from "../faults/part.ts";
import { type MintedKey, mintKey } from "../support/mint.ts";
import { ADMIN_TOKEN, startWorkerd, UNLIMITED, type Workerd } from "../support/workerd.ts";
import { adminKinds } from "./admin-inputs.ts";
import { isFromWorker, problemOf, problemOfLog } from "./checks.ts";
import { clientKinds } from "./client-inputs.ts";
import { type Exchange, exchangeAll } from "./exchange.ts";
import { type Input, type Kinds, printable, type Target } from "./input.ts";
import { takeSnapshot, unexplainedChange } from "./state.ts";

const MAX_INPUTS_PER_BATCH = 250;

/**
 * Then workerd is started anew, because its native memory grows by some 10 kB for each request, good or bad.
 * The heap of the isolate does not grow.
 */
const REQUESTS_PER_PROCESS = 10_000;

/** Megabytes, from the first batch on, with local D1. Measured: 235. */
const MAX_PROCESS_GROWTH = 400;

/** Shrinking stops after this time. */
const SHRINK_MS = 60_000;

const ORDER_IDS = ["1", "9007199254740993", "-9223372036854775808", "9223372036854775807"];
/** Not changed by any input, so that the list can be compared in part. */
const FIXED_ORDER = '{"id":4242,"petId":7,"quantity":2}';

export async function fuzz({
  requests,
  seed,
  untilMs,
  progress,
}: Plan & { readonly requests: number }): Promise<Found & { readonly sent: number }> {
  const keys = [await mintKey(), await mintKey(), await mintKey()] as const;
  const target = await targetOf(keys);
  const counted: Counted = { sent: 0, counts: {}, memoryGrowth: 0 };
  let process: Process | undefined;
  let shrinkUntilMs: number | undefined;
  const property = fc.asyncProperty(batches(target), async (drawn) => {
    const left = shrinkUntilMs === undefined ? requests - counted.sent : drawn.length;
    if (left <= 0 || Date.now() > (shrinkUntilMs ?? untilMs)) return;
    if (process && process.sent >= REQUESTS_PER_PROCESS) {
      await process.close();
      process = undefined;
    }
    process ??= await Process.start(keys, target, counted);
    const problem = await process.send(drawn.slice(0, left));
    progress?.(`${counted.sent} of ${requests} requests`);
    if (problem === undefined) return;
    shrinkUntilMs ??= Date.now() + SHRINK_MS;
    throw new Error(problem);
  });
  try {
    const { counterexample, errorInstance } = await fc.check(property, {
      seed,
      // A batch has 125 inputs on average. Batches that are not needed are not sent.
      numRuns: 10 + Math.ceil(requests / 100),
      examples: [[foundBefore(target)]],
    });
    const smallest = counterexample?.[0]?.map((input) => printable(input, target));
    const { sent, counts, memoryGrowth } = counted;
    return {
      sent,
      title: `Bad input: ${sent} requests, seed ${seed}; workerd grew by ${Math.round(memoryGrowth)} MB at most`,
      rows: Object.entries(counts).map(([kind, statuses]) => {
        const shown = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
        return [kind, shown.join(", ")] as const;
      }),
      failures: smallest ? [[String(errorInstance), ...smallest].join("\n")] : [],
    };
  } finally {
    await process?.close();
  }
}

/** The key of the requests has no limit. The admin requests change two other keys. */
async function targetOf([own, ...others]: readonly [MintedKey, ...MintedKey[]]): Promise<Target> {
  return {
    key: own.key,
    unknownKeys: [(await mintKey()).key, (await mintKey(own.id)).key],
    adminToken: ADMIN_TOKEN,
    keyIds: others.map(({ id }) => id),
    orderIds: ORDER_IDS,
  };
}

/** Requests of clients are cheaper, and come from anyone: twice as many as those of operators. */
function batches(target: Target): fc.Arbitrary<Input[]> {
  const all = (kinds: Kinds, weight: number) =>
    Object.entries(kinds).map(([kind, arbitrary]) => ({
      weight,
      arbitrary: arbitrary.map((request): Input => ({ kind, ...request })),
    }));
  const input = fc.oneof(...all(clientKinds(target), 2), ...all(adminKinds(target), 1));
  return fc.noBias(fc.array(input, { minLength: 1, maxLength: MAX_INPUTS_PER_BATCH, size: "max" }));
}

/** The inputs that found a defect. Each run begins with them. */
function foundBefore({ adminToken }: Target): Input[] {
  const input = (requestLine: string, ...headers: string[]): Input => {
    return { kind: "found before", requestLine, headers, body: "", ending: "ended" };
  };
  const usage = "GET /admin/usage?format=csv&from=2026-11-19&limit=1 HTTP/1.1";
  return [
    // 500: the URL of the request could not be parsed
    input("GET /openapi.json HTTP/1.1", "Host: a b\\"),
    input("GET /openapi.json HTTP/1.1", "Host: localhost", "Host: localhost"),
    input(usage, "Host: [::1", `Authorization: Bearer ${adminToken}`),
    // answers of workerd that were not known
    input(`GET /v1/${"x".repeat(70_000)} HTTP/1.1`, "Host: localhost"),
    input("GET /v1 HTTP/1.1", "Host: localhost", `X-Long: ${"x".repeat(520_000)}`),
  ];
}

type Counted = {
  sent: number;
  readonly counts: Record<string, Record<string, number>>;
  memoryGrowth: number;
};

/** One workerd, whose state is compared before and after each batch. */
class Process {
  readonly #service: Workerd;
  /** The lines of the log since the last check. */
  readonly #lines: string[];
  readonly #target: Target;
  readonly #counted: Counted;
  #memoryBefore: number | undefined;
  sent = 0;

  private constructor(service: Workerd, lines: string[], target: Target, counted: Counted) {
    this.#service = service;
    this.#lines = lines;
    this.#target = target;
    this.#counted = counted;
  }

  static async start(keys: readonly MintedKey[], target: Target, counted: Counted): Promise<Process> {
    const lines: string[] = [];
    const service = await startWorkerd({ onLog: (line) => lines.push(line) });
    for (const minted of keys) await service.createKey({ ...UNLIMITED, minted });
    const insert = service.db.prepare(
      "insert into orders (id, pet_id, quantity) values (cast(? as integer), 7, 2)",
    );
    await service.db.batch([...ORDER_IDS, "4242"].map((id) => insert.bind(id)));
    const process = new Process(service, lines, target, counted);
    // The first use of the key changes it.
    await process.#get("/v1/x");
    return process;
  }

  async close(): Promise<void> {
    await this.#service.close();
  }

  /** What is wrong afterwards. */
  async send(batch: readonly Input[]): Promise<string | undefined> {
    const { db, url } = this.#service;
    const before = await takeSnapshot(db);
    const exchanges = await exchangeAll(url, batch);
    for (const exchange of exchanges) this.#count(exchange);
    const wrong = exchanges.map((each) => this.#problemOf(each)).find((each) => each !== undefined);
    const after = await takeSnapshot(db);
    return (
      wrong ??
      (await unexplainedChange(db, before, after, exchanges)) ??
      problemOfLog(this.#lines.splice(0), this.#target) ??
      (await this.#problemOfOthers()) ??
      this.#problemOfMemory()
    );
  }

  #problemOf(exchange: Exchange): string | undefined {
    const problem = problemOf(exchange, this.#target);
    return problem && `${problem}, after ${printable(exchange.input, this.#target)}`;
  }

  /** Undefined if a client and a monitor are served as before. */
  async #problemOfOthers(): Promise<string | undefined> {
    const [list, health] = [await this.#get("/v1/store/orders"), await this.#get("/health")];
    if (list.status === 200 && list.text.includes(FIXED_ORDER) && health.status === 200) return undefined;
    return `the service does not answer right afterwards: ${list.status} ${list.text.slice(0, 200)}, health ${health.status}`;
  }

  async #get(path: string): Promise<{ status: number; text: string }> {
    const headers = { Authorization: `Bearer ${this.#target.key}` };
    const response = await fetch(new URL(path, this.#service.url), { headers });
    return { status: response.status, text: await response.text() };
  }

  #problemOfMemory(): string | undefined {
    const resident = this.#service.residentMemory();
    this.#memoryBefore ??= resident?.now;
    const growth = (resident?.peak ?? 0) - (this.#memoryBefore ?? 0);
    this.#counted.memoryGrowth = Math.max(this.#counted.memoryGrowth, growth);
    return growth > MAX_PROCESS_GROWTH ? `workerd grew by ${Math.round(growth)} MB` : undefined;
  }

  #count({ input, answers }: Exchange): void {
    this.sent++;
    this.#counted.sent++;
    this.#counted.counts[input.kind] ??= {};
    const counts = this.#counted.counts[input.kind] ?? {};
    const names = answers.map((each) =>
      isFromWorker(each) ? `${each.status}` : `${each.status} of workerd`,
    );
    for (const name of names.length > 0 ? names : ["none"]) counts[name] = (counts[name] ?? 0) + 1;
  }
}
