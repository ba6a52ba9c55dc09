/** Sends one request of an import, and sends it again while the service answers 503. */
import { setTimeout } from "node:timers/promises";
import { AdminFailure, failureOf, isOverWorkerLimits, postOrders } from "../admin-client.ts";
import type { Session } from "./session.ts";

/** For each request of an import, with a pause after a 503 that the service names. */
const MAX_ATTEMPTS = 6;
const DEFAULT_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 30;

/**
 * The service goes on after what it had stored before the 503. Of a request that is sent again, a 409 is not final: the first
 * try can still have been stored meanwhile. `onUnavailable` is called at each 503.
 */
export async function postWithRetries(
  { access, io }: Session,
  query: Readonly<Record<string, string>>,
  ndjson: string,
  onUnavailable: () => void,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await postOrders(access, query, ndjson);
    if (response.status === 503) onUnavailable();
    const isPassing = response.status === 503 || (response.status === 409 && attempt > 1);
    if (!isPassing || (await isOverWorkerLimits(response))) return response;
    if (attempt === MAX_ATTEMPTS) throw withoutLines(await failureOf(response));
    await response.body?.cancel();
    await setTimeout(retryAfterMs(response), undefined, { signal: io.interruption });
  }
}

/** What follows the first sentence is about the lines of one request, and how to go on over HTTP. */
function withoutLines({ message }: AdminFailure): AdminFailure {
  return new AdminFailure(message.replace(/\. .*/s, "."));
}

function retryAfterMs({ headers }: Response): number {
  const given = headers.get("Retry-After") ?? "";
  const waitSeconds = /^\d+$/.test(given) ? Number(given) : DEFAULT_RETRY_SECONDS;
  return Math.min(waitSeconds, MAX_RETRY_SECONDS) * 1000;
}
