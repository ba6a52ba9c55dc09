/** A client that waits for the time in `Retry-After`, or otherwise backs off exponentially with jitter. */

const MAX_TRIES = 6;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** A longer `Retry-After` (the day's limit is used up, or the key is banned) is an error that the caller handles. */
const MAX_WAIT_MS = 120_000;

export type Order = { id?: number; petId?: number; quantity?: number; shipDate?: string; complete?: boolean };

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** `wait` is for tests. */
export function ordersClient(baseUrl: string, key: string, wait = sleep) {
  async function call(method: string, path: string): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const headers = { Authorization: `Bearer ${key}` };
      const response = await fetch(`${baseUrl}${path}`, { method, headers });
      if (response.ok) return response;
      const waitMs = waitBeforeRetry(response, tries);
      if (waitMs > MAX_WAIT_MS || tries === MAX_TRIES) throw new Error(await response.text());
      await response.body?.cancel();
      await wait(waitMs);
    }
  }
  return {
    // The OpenAPI document defines the members of an order.
    list: async () => (await (await call("GET", "/store/orders")).json()) as Order[],
    cancel: async (orderId: number | bigint) => void (await call("DELETE", `/store/orders/${orderId}`)),
  };
}

/** Infinity if a retry cannot help. */
function waitBeforeRetry({ status, headers }: Response, tries: number): number {
  if (status !== 429 && status < 500) return Number.POSITIVE_INFINITY;
  const retryAfter = headers.get("Retry-After");
  if (retryAfter !== null) return Number(retryAfter) * 1000;
  return Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** tries);
}
