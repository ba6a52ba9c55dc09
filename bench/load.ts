/** Sends requests to the bench service, from this process: only workerd's CPU time is measured. */
import { spreadOf } from "./statistics.ts";

export const CONNECTIONS = 20;

export type RequestSpec = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type LoadResult = {
  readonly durationMs: number;
  readonly p50Ms: number;
  /** How many responses had each status. */
  readonly statuses: ReadonlyMap<number, number>;
};

/** Each connection sends its next request after the answer. Throws when a connection fails. */
export async function sendMany(
  url: URL,
  spec: RequestSpec,
  count: number,
  connections = CONNECTIONS,
): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const statuses = new Map<number, number>();
  let left = count;
  const sendInTurn = async () => {
    while (left-- > 0) {
      const sentAtMs = performance.now();
      const { status } = await send(url, spec);
      latenciesMs.push(performance.now() - sentAtMs);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: connections }, sendInTurn));
  return { durationMs: performance.now() - startMs, p50Ms: spreadOf(latenciesMs).median, statuses };
}

/** As `sendMany`. Throws when a response has another status. */
export async function sendExpecting(
  url: URL,
  spec: RequestSpec,
  count: number,
  status: number,
): Promise<LoadResult> {
  const result = await sendMany(url, spec, count);
  if (result.statuses.get(status) === count) return result;
  const seen = [...result.statuses].map(([code, times]) => `${times} × ${code}`).join(", ");
  throw new Error(`${spec.path} answered ${seen}, not ${count} × ${status}`);
}

export async function send(url: URL, { path, headers }: RequestSpec, method = "GET") {
  const response = await fetch(new URL(path, url), { method, headers });
  return { status: response.status, headers: response.headers, body: await response.text() };
}
