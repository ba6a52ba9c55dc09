/** Sends one request of an import, and sends it again while the service answers 408 or 503. */
import { setTimeout } from "node:timers/promises";
import { withoutLines } from "../../worker/orders/import-requests.ts";
import { AdminFailure, failureOf, isOverWorkerLimits, postOrders } from "../admin-client.ts";
import type { Session } from "./session.ts";

/** The upload broke off, or the database cannot be reached. */
const PASSING: ReadonlySet<number> = new Set([408, 503]);

/** For each request of an import, with a pause that a 503 of the service names. */
const MAX_ATTEMPTS = 6;
const DEFAULT_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 30;

/**
 * The service goes on after what it had stored before the failure. Of a request that is sent again, a 409 is not final: the first
 * try can still have been stored meanwhile. `onPassing` is called at each 408 and 503.
 */
export async function postWithRetries(
  { access, io }: Session,
  query: Readonly<Record<string, string>>,
  ndjson: string,
  onPassing: () => void,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await postOrders(access, query, ndjson);
    if (PASSING.has(response.status)) onPassing();
    const isPassing = PASSING.has(response.status) || (response.status === 409 && attempt > 1);
    if (!isPassing || (await isOverWorkerLimits(response))) return response;
    if (attempt === MAX_ATTEMPTS) throw new AdminFailure(withoutLines((await failureOf(response)).message));
    await response.body?.cancel();
    await setTimeout(retryAfterMs(response), undefined, { signal: io.interruption });
  }
}

function retryAfterMs({ headers }: Response): number {
  const given = headers.get("Retry-After") ?? "";
  const waitSeconds = /^\d+$/.test(given) ? Number(given) : DEFAULT_RETRY_SECONDS;
  return Math.min(waitSeconds, MAX_RETRY_SECONDS) * 1000;
}
