/** Tests what a limiter guarantees: how many it admits, which answers have headers, what a SIGKILL loses. */
import { inTemporaryFolder } from "./build.ts";
import { HOT_PATH, LIMITED, LIST, NO_SUCH_PATH, newCredential } from "./cases.ts";
import { send, sendMany } from "./load.ts";
import type { OnStep, Workers } from "./measure.ts";
import { BARE, type BenchService, SERVICE, startBench } from "./service.ts";

/** A test that did not end within a minute, on a busy machine, has no result. */
export type Guarantees = {
  /** How many of ten times the limit, sent at once to two isolates, in each of several tries. */
  readonly admitted?: readonly number[];
  /** Which of the statuses 200, 401, 404, 405 and 429 carried rate-limit headers. */
  readonly statusesWithHeaders?: readonly number[];
  /** How many were admitted before and after a SIGKILL, together. */
  readonly admittedWithSigkill?: number;
};

export const TESTED_STATUSES = [200, 401, 404, 405, 429] as const;
/** The limit of each limiter, and of the service's keys. */
export const REACHED_LIMIT = 60;
/** This part of the limit is used before the SIGKILL. */
const USED_BEFORE_SIGKILL = 40;
/** Bursts and a restart must end in the minute in which they began, even on a busy machine. */
const BURST_SECONDS = 20;
const RESTART_SECONDS = 40;
const MAX_ATTEMPTS = 3;
/** Whether concurrent requests read the same count is a matter of chance, so one try proves little. */
export const EXACTNESS_TRIES = 5;

type Subject = {
  /** The id of the case that shows its costs. */
  readonly id: string;
  readonly name: string;
  readonly worker: string;
  /** Answers GET with 200 and other methods with 405. */
  readonly path: string;
  readonly missingPath: string;
};

/** By id of the case that shows the limiter's costs. */
export async function testGuarantees(workers: Workers, onStep: OnStep): Promise<Map<string, Guarantees>> {
  return await inTemporaryFolder(async (folder) => {
    const start = () =>
      startBench({
        workers: [workers.service, ...workers.others],
        limit: REACHED_LIMIT,
        folder,
        hasSecondIsolate: true,
      });
    const subjects = subjectsOf(workers);
    const service = await start();
    const found = new Map<string, Guarantees>();
    try {
      for (const subject of subjects) {
        onStep(`exactness and headers: ${subject.name}`);
        const tested = await withinAMinute(BURST_SECONDS, async () => ({
          admitted: await inTurn(EXACTNESS_TRIES, () => admittedAtTenTimes(service, subject)),
          statusesWithHeaders: await statusesWithHeaders(service, subject),
        }));
        found.set(subject.id, tested ?? {});
      }
    } finally {
      await service.close();
    }
    onStep("SIGKILL");
    const totals = await withinAMinute(RESTART_SECONDS, () => admittedWithSigkill(start, subjects));
    for (const [id, total] of totals ?? []) found.set(id, { ...found.get(id), admittedWithSigkill: total });
    return found;
  });
}

function subjectsOf({ others }: Workers): Subject[] {
  const limiters = others.filter(({ id }) => id !== BARE);
  return [
    ...limiters.map(({ id, name }) => ({ id, name, worker: id, path: LIMITED, missingPath: "/none" })),
    { id: HOT_PATH, name: "service", worker: SERVICE, path: LIST, missingPath: NO_SUCH_PATH },
  ];
}

/** A key that nobody has used, with the limit that is reached. */
async function newKey(service: BenchService, { worker }: Subject): Promise<string> {
  if (worker !== SERVICE) return newCredential();
  return await service.createKey({ perMinute: REACHED_LIMIT, perDay: 1_000_000 });
}

/** Repeats a test that a new minute interrupted, because a new minute has a new limit. */
async function withinAMinute<T>(seconds: number, test: () => Promise<T>): Promise<T | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const leftMs = 60_000 - (Date.now() % 60_000);
    if (leftMs < seconds * 1000) await new Promise((resolve) => setTimeout(resolve, leftMs + 20));
    const minute = Math.floor(Date.now() / 60_000);
    const isInterrupted = () => Math.floor(Date.now() / 60_000) !== minute;
    try {
      const result = await test();
      if (!isInterrupted()) return result;
    } catch (thrown) {
      if (!isInterrupted()) throw thrown;
    }
  }
  return undefined;
}

async function inTurn(times: number, test: () => Promise<number>): Promise<number[]> {
  const results: number[] = [];
  while (results.length < times) results.push(await test());
  return results;
}

async function admittedAtTenTimes(service: BenchService, subject: Subject): Promise<number> {
  const headers = { Authorization: await newKey(service, subject) };
  const urls = service.urls(subject.worker);
  const requests = (REACHED_LIMIT * 10) / urls.length;
  const loads = await Promise.all(
    urls.map((url) => sendMany(url, { path: subject.path, headers }, requests, 10)),
  );
  return loads.reduce((sum, { statuses }) => sum + (statuses.get(200) ?? 0), 0);
}

async function statusesWithHeaders(service: BenchService, subject: Subject): Promise<number[]> {
  const { path, missingPath } = subject;
  const url = service.url(subject.worker);
  const headers = { Authorization: await newKey(service, subject) };
  const responses = [
    await send(url, { path, headers }),
    await send(url, { path, headers: {} }),
    await send(url, { path: missingPath, headers }),
    await send(url, { path, headers }, "POST"),
  ];
  await sendMany(url, { path, headers }, REACHED_LIMIT);
  responses.push(await send(url, { path, headers }));
  const statuses = responses.map(({ status }) => status);
  // A file of `--limiter` may have other answers in between.
  if (statuses.at(0) !== 200 || statuses.at(-1) !== 429)
    throw new Error(`${subject.name} answered ${statuses}, not 200 first and 429 at its limit`);
  return responses.filter(({ headers }) => hasRateLimit(headers)).map(({ status }) => status);
}

/** The three X-RateLimit headers, or the draft's one in either form. */
function hasRateLimit(headers: Headers): boolean {
  const has = (prefix: string) =>
    ["Limit", "Remaining", "Reset"].every((name) => headers.has(`${prefix}${name}`));
  return has("X-RateLimit-") || has("RateLimit-") || headers.has("RateLimit");
}

async function admittedWithSigkill(
  start: () => Promise<BenchService>,
  subjects: readonly Subject[],
): Promise<Map<string, number>> {
  const keys = new Map<Subject, string>();
  const before = await start();
  try {
    for (const subject of subjects) keys.set(subject, await newKey(before, subject));
    for (const [subject, key] of keys) {
      const used = await admitted(before, subject, key, USED_BEFORE_SIGKILL);
      if (used !== USED_BEFORE_SIGKILL) throw new Error(`${subject.name} admitted only ${used}`);
    }
    before.kill();
  } finally {
    await before.close();
  }
  const after = await start();
  try {
    const totals = new Map<string, number>();
    for (const [subject, key] of keys) {
      // One at a time, so that this shows only what was stored, and not what concurrent requests gain.
      const more = await admitted(after, subject, key, REACHED_LIMIT, 1);
      totals.set(subject.id, USED_BEFORE_SIGKILL + more);
    }
    return totals;
  } finally {
    await after.close();
  }
}

async function admitted(
  service: BenchService,
  { worker, path }: Subject,
  key: string,
  count: number,
  connections?: number,
): Promise<number> {
  const spec = { path, headers: { Authorization: key } };
  const { statuses } = await sendMany(service.url(worker), spec, count, connections);
  return statuses.get(200) ?? 0;
}
