/** Sends requests to the bench service from another process (autocannon), so that its work is not measured. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

export const CONNECTIONS = 20;

const AUTOCANNON = createRequire(import.meta.url).resolve("autocannon");
/** By default autocannon ends with a full second, which rounds the rate of a short run. */
const SAMPLE_INTERVAL_MS = 10;
const MAX_RUN_MS = 120_000;

export type RequestSpec = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type LoadResult = {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** How many responses had each status. */
  readonly statuses: ReadonlyMap<number, number>;
};

/** The part of autocannon's JSON that is read here (autocannon 9, lib/aggregateResult.js). */
type AutocannonResult = {
  readonly duration: number;
  readonly errors: number;
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly requests: { readonly total: number };
  readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
};

/** Throws when a connection fails. */
export async function sendMany(
  url: URL,
  spec: RequestSpec,
  count: number,
  connections = CONNECTIONS,
): Promise<LoadResult> {
  const headers = Object.entries(spec.headers).flatMap(([name, value]) => ["-H", `${name}=${value}`]);
  const load = ["-c", `${Math.min(connections, count)}`, "-a", `${count}`, "-L", `${SAMPLE_INTERVAL_MS}`];
  const output = await runNode([AUTOCANNON, "--json", ...load, ...headers, new URL(spec.path, url).href]);
  const result = JSON.parse(output) as AutocannonResult; // what the pinned version prints with --json
  if (result.errors > 0) throw new Error(`${spec.path}: ${result.errors} connections failed`);
  return {
    requests: result.requests.total,
    requestsPerSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    statuses: new Map(
      Object.entries(result.statusCodeStats).map(([status, { count }]) => [Number(status), count]),
    ),
  };
}

/** As `sendMany`. Throws when a response has another status. */
export async function sendExpecting(
  url: URL,
  spec: RequestSpec,
  count: number,
  status: number,
): Promise<LoadResult> {
  const result = await sendMany(url, spec, count);
  if (result.statuses.get(status) !== result.requests) {
    const seen = [...result.statuses].map(([code, times]) => `${times} × ${code}`).join(", ");
    throw new Error(`${spec.path} answered ${seen}, not ${result.requests} × ${status}`);
  }
  return result;
}

function runNode(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { timeout: MAX_RUN_MS, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      errors += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`autocannon ended with ${code ?? "a signal"}: ${errors.slice(0, 500)}`));
    });
  });
}

/** One request from this process, for preparation and probes. */
export async function send(url: URL, { path, headers }: RequestSpec, method = "GET") {
  const response = await fetch(new URL(path, url), { method, headers: { ...headers } });
  return { status: response.status, headers: response.headers, body: await response.text() };
}
