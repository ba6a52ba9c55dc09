/** Sends inputs in batches, checks answers, state and memory, and reduces what fails to a minimal input. */
import { mintKey } from "../support/mint.ts";
import { startWorkerd, UNLIMITED, type Workerd } from "../support/workerd.ts";
import { ADMIN_KINDS } from "./admin-inputs.ts";
import { isFromWorker, problemOf, problemOfLog } from "./checks.ts";
import { CLIENT_KINDS } from "./client-inputs.ts";
import { type Exchange, exchangeAll } from "./exchange.ts";
import { FOUND_BEFORE } from "./found-before.ts";
import { type Input, printable, type Target } from "./input.ts";
import { Random } from "./random.ts";
import { shrink } from "./shrink.ts";
import { type Snapshot, takeSnapshot, unexplainedChange } from "./state.ts";

/** Requests of clients are cheaper, and come from anyone: twice as many as those of operators. */
const [CLIENT, ADMIN] = [Object.entries(CLIENT_KINDS), Object.entries(ADMIN_KINDS)];
const KINDS = [...CLIENT, ...CLIENT, ...ADMIN];
const BEFORE = "found before";
const INPUTS_PER_BATCH = 250;

/**
 * Then workerd is started anew, because its native memory grows by some 10 kB for each request, good or bad. The heap
 * of the isolate does not grow.
 */
const REQUESTS_PER_PROCESS = 10_000;

/** Megabytes, from the first batch on, with local D1. Measured: 235. */
const MAX_PROCESS_GROWTH = 400;

const ORDER_IDS = ["1", "9007199254740993", "-9223372036854775808", "9223372036854775807"];
/** Not changed by any input, so that the list can be compared in part. */
const FIXED_ORDER = '{"id":4242,"petId":7,"quantity":2}';

export type Options = {
  readonly requests: number;
  readonly seed: number;
  readonly maxMs: number;
  readonly onProgress?: (sent: number) => void;
};

export type Count = { sent: number; readonly statuses: Map<string, number> };

export type Failure = {
  readonly problem: string;
  /** Of the smallest input that fails in the same way. */
  readonly reproduction: string;
};

export type Result = {
  readonly seed: number;
  readonly sent: number;
  readonly ms: number;
  readonly kinds: ReadonlyMap<string, Count>;
  /** Megabytes that a workerd grew by, at most. */
  readonly memoryGrowth: number;
  readonly failure?: Failure;
};

export async function fuzz({ requests, seed, maxMs, onProgress }: Options): Promise<Result> {
  const startedAtMs = Date.now();
  const random = new Random(seed);
  const counted: Counted = {
    sent: 0,
    kinds: new Map(
      [BEFORE, ...KINDS.map(([kind]) => kind)].map((kind) => [kind, { sent: 0, statuses: new Map() }]),
    ),
    memoryGrowth: 0,
  };
  let failure: Failure | undefined;
  const isOver = () => failure !== undefined || counted.sent >= requests || Date.now() - startedAtMs > maxMs;
  while (!isOver()) {
    const process = await Process.start(random, counted);
    try {
      const last = Math.min(requests, counted.sent + REQUESTS_PER_PROCESS);
      while (!isOver() && counted.sent < last) {
        failure = await process.sendBatch(last - counted.sent);
        onProgress?.(counted.sent);
      }
    } finally {
      await process.close();
    }
  }
  return { seed, ...counted, ms: Date.now() - startedAtMs, ...(failure ? { failure } : {}) };
}

/** The key of the requests has no limit. The admin requests change two other keys. */
async function targetOf(service: Workerd): Promise<Target> {
  const newKey = () => service.createKey(UNLIMITED);
  const [own, ...others] = [await newKey(), await newKey(), await newKey()];
  const insert = service.db.prepare(
    "insert into orders (id, pet_id, quantity) values (cast(? as integer), 7, 2)",
  );
  await service.db.batch([...ORDER_IDS, "4242"].map((id) => insert.bind(id)));
  return {
    key: own.key,
    unknownKeys: [(await mintKey()).key, (await mintKey(own.id)).key],
    adminToken: service.adminToken,
    keyIds: others.map(({ id }) => id),
    orderIds: ORDER_IDS,
  };
}

type Counted = { sent: number; readonly kinds: Map<string, Count>; memoryGrowth: number };

/** One workerd, and what was stored before its next batch. */
class Process {
  readonly #service: Workerd;
  /** Of the log, since the last check. */
  readonly #lines: string[];
  readonly #target: Target;
  readonly #random: Random;
  readonly #counted: Counted;
  #state: Snapshot;
  #isFirst = true;
  #memoryBefore: number | undefined;

  private constructor(
    running: { service: Workerd; lines: string[]; target: Target; state: Snapshot },
    random: Random,
    counted: Counted,
  ) {
    this.#service = running.service;
    this.#lines = running.lines;
    this.#target = running.target;
    this.#state = running.state;
    this.#random = random;
    this.#counted = counted;
  }

  static async start(random: Random, counted: Counted): Promise<Process> {
    const lines: string[] = [];
    const service = await startWorkerd({ onLog: (line) => lines.push(line) });
    const target = await targetOf(service);
    // The first use of the key changes it.
    await fetch(new URL("/v1/x", service.url), { headers: { Authorization: `Bearer ${target.key}` } });
    const state = await takeSnapshot(service.db);
    return new Process({ service, lines, target, state }, random, counted);
  }

  async close(): Promise<void> {
    await this.#service.close();
  }

  async sendBatch(max: number): Promise<Failure | undefined> {
    const batch = this.#makeBatch(Math.min(INPUTS_PER_BATCH, max));
    this.#isFirst = false;
    const { problem, input, state } = await this.#check(batch, this.#state);
    this.#state = state;
    return problem === undefined ? undefined : this.#explain(batch, problem, input);
  }

  #makeBatch(size: number): Input[] {
    if (this.#isFirst)
      return FOUND_BEFORE.map((make) => ({ kind: BEFORE, ...make(this.#random, this.#target) }));
    return Array.from({ length: size }, () => {
      const [kind, make] = this.#random.pick(KINDS);
      return { kind, ...make(this.#random, this.#target) };
    });
  }

  async #check(
    batch: readonly Input[],
    before: Snapshot,
  ): Promise<{ problem?: string; input?: Input; state: Snapshot }> {
    const exchanges = await exchangeAll(this.#service.url, batch);
    this.#count(exchanges);
    for (const exchange of exchanges) {
      const problem = problemOf(exchange, this.#target);
      if (problem !== undefined) return { problem, input: exchange.input, state: before };
    }
    const state = await takeSnapshot(this.#service.db);
    const problem =
      (await unexplainedChange(this.#service.db, before, state, exchanges)) ??
      problemOfLog(this.#lines.splice(0), this.#target) ??
      (await this.#problemAfterwards());
    return problem === undefined ? { state } : { problem, state };
  }

  /** Undefined if memory is bounded, and a client and a monitor are served as before. */
  async #problemAfterwards(): Promise<string | undefined> {
    const headers = { Authorization: `Bearer ${this.#target.key}` };
    const list = await fetch(new URL("/v1/store/orders", this.#service.url), { headers });
    const text = await list.text();
    const health = await fetch(new URL("/health", this.#service.url));
    await health.text();
    if (list.status !== 200 || !text.includes(FIXED_ORDER) || health.status !== 200) {
      return `the service does not answer right afterwards: ${list.status} ${text.slice(0, 200)}, health ${health.status}`;
    }
    return this.#problemOfMemory();
  }

  #problemOfMemory(): string | undefined {
    const resident = this.#service.residentMemory();
    this.#memoryBefore ??= resident?.now;
    const processGrowth = (resident?.peak ?? 0) - (this.#memoryBefore ?? 0);
    this.#counted.memoryGrowth = Math.max(this.#counted.memoryGrowth, processGrowth);
    if (processGrowth > MAX_PROCESS_GROWTH) return `workerd grew by ${Math.round(processGrowth)} MB`;
    return undefined;
  }

  #count(exchanges: readonly Exchange[]): void {
    for (const { input, answers } of exchanges) {
      this.#counted.sent++;
      const count = this.#counted.kinds.get(input.kind);
      if (!count) continue;
      count.sent++;
      const names = answers.map((answer) =>
        isFromWorker(answer) ? `${answer.status}` : `${answer.status} of workerd`,
      );
      for (const name of names.length > 0 ? names : ["none"]) {
        count.statuses.set(name, (count.statuses.get(name) ?? 0) + 1);
      }
    }
  }

  /** Sends each suspect alone, then ever smaller ones. */
  async #explain(batch: readonly Input[], problem: string, input: Input | undefined): Promise<Failure> {
    const fails = async (candidate: Input) => {
      const checked = await this.#check([candidate], await takeSnapshot(this.#service.db));
      return checked.problem !== undefined;
    };
    for (const suspect of input ? [input] : batch) {
      if (!(await fails(suspect))) continue;
      const smallest = await shrink(suspect, fails);
      return {
        problem,
        reproduction: `${smallest.kind}: ${printable(smallest, this.#target)}, then ${smallest.ending}`,
      };
    }
    const sent = input ? printable(input, this.#target) : "no input fails alone";
    return { problem, reproduction: `only within its batch: ${sent}` };
  }
}
