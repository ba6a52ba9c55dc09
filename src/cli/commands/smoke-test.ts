/** The smoke test: requests of a client with a new key, each with what the answer must be. */
import * as v from "valibot";
import {
  type Access,
  AdminFailure,
  adminClient,
  LostAnswer,
  postOrders,
  requestInit,
} from "../admin-client.ts";
import { effective } from "./answers.ts";
import { answerOf, bodyOf, withConnection } from "./session.ts";

const LIST = "/v1/store/orders";
/** The key's own, whatever its plan has. The headers show the window with less left, so the day allows more. */
const PER_MINUTE = 60;
const PER_DAY = 1_000;
/** The key expires by itself, should the run be interrupted before it is revoked. */
const KEY_LIFETIME_MS = 10 * 60_000;
const EXPIRES = `expires within ${KEY_LIFETIME_MS / 60_000} minutes`;
const KEY_NAME = "smoke test";
const KEY_MAY_BE_LEFT = `a key named "${KEY_NAME}" may be left; it ${EXPIRES}.`;

export type StepResult = {
  readonly step: string;
  readonly ok: boolean;
  readonly ms: number;
  /** What the answer was, or what is wrong with it. */
  readonly detail: string;
};

/** An order of the test. */
type Order = {
  readonly id: string;
  /** Its import was sent, and no answer shows whether it is carried out. */
  isImportUncertain: boolean;
};

/**
 * Ends with the first step that fails. Then it deletes the order, or names it if that failed or its import may still be carried
 * out; and it revokes the key, if the service has answered with one. A key that was not revoked expires. An interrupted process
 * may end before that (main.ts), so `warn` gets the names of what may be left as soon as the interruption comes.
 */
export async function runSmokeTest(
  access: Access,
  warn: (text: string) => void,
): Promise<readonly StepResult[]> {
  const steps = new Steps();
  const { signal, ...cleanUpAccess } = access;
  const made: string[] = [];
  let isIssuing = false;
  signal?.addEventListener("abort", () => {
    if (isIssuing) warn(`Interrupted: ${KEY_MAY_BE_LEFT}`);
    if (made.length > 0) warn(describeInterruption(made));
  });
  await steps.run("health", () => health(access));
  await steps.run("list without a key", () => unauthorized(access));
  isIssuing = !steps.hasFailed;
  const issued = await steps.run("issue a key", () => issueKey(access));
  isIssuing = false;
  if (issued === undefined) return steps.results;
  made.push(`key ${issued.id}`);
  await checkList(steps, access, issued.key);
  if (!steps.hasFailed) {
    const order = { id: unusedOrderId(), isImportUncertain: false };
    made.push(`order ${order.id}`);
    await checkCancel(steps, access, issued.key, order);
    if (steps.hasFailed)
      await steps.run("delete the order", () => deleteOrder(cleanUpAccess, order), "always");
  }
  const revoked = await steps.run("revoke the key", () => revokeKey(cleanUpAccess, issued.id), "always");
  if (revoked) await steps.run("list with the revoked key", () => unauthorized(access, issued.key));
  return steps.results;
}

function describeInterruption(made: readonly string[]): string {
  return `Interrupted: the test cleans up. If no results follow, it may leave ${made.join(" and ")} behind; the key ${EXPIRES}.`;
}

async function checkList(steps: Steps, access: Access, key: string): Promise<void> {
  const etag = await steps.run("list", () => list(access, key));
  await steps.run("list, unchanged", () => unchangedList(access, key, etag));
}

async function checkCancel(steps: Steps, access: Access, key: string, order: Order): Promise<void> {
  await steps.run("import an order", () => importOrder(access, order));
  await steps.run("cancel it", () => cancel(access, key, order.id, 204));
  await steps.run("cancel it again", () => cancel(access, key, order.id, 404));
}

class Steps {
  readonly results: StepResult[] = [];

  get hasFailed(): boolean {
    return this.results.some(({ ok }) => !ok);
  }

  /** Undefined if the step failed, or was left out because an earlier one failed. */
  async run<T>(step: string, body: () => Promise<Passed<T>>, when?: "always"): Promise<T | undefined> {
    if (when !== "always" && this.hasFailed) return undefined;
    const startMs = performance.now();
    const outcome = await passedOrFailure(body);
    const ms = Math.round(performance.now() - startMs);
    this.results.push({ step, ok: outcome.ok, ms, detail: outcome.detail });
    return outcome.ok ? outcome.value : undefined;
  }
}

type Passed<T> = { readonly detail: string; readonly value: T };

async function passedOrFailure<T>(
  body: () => Promise<Passed<T>>,
): Promise<({ readonly ok: true } & Passed<T>) | { readonly ok: false; readonly detail: string }> {
  try {
    return { ok: true, ...(await body()) };
  } catch (thrown) {
    return { ok: false, detail: messageOf(thrown) };
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

async function health(access: Access): Promise<Passed<void>> {
  const response = await send(access, "/health");
  expectStatus(response, 200);
  return { detail: "D1 and a limiter answer", value: undefined };
}

async function unauthorized(access: Access, key?: string): Promise<Passed<void>> {
  const response = await send(access, LIST, key);
  expectStatus(response, 401);
  if (!response.headers.has("WWW-Authenticate")) throw new AdminFailure("401 without WWW-Authenticate");
  rateLimitOf(response);
  return { detail: "401", value: undefined };
}

async function issueKey(access: Access): Promise<Passed<{ id: string; key: string }>> {
  const json = {
    name: KEY_NAME,
    plan: "free" as const,
    requestsPerMinute: PER_MINUTE,
    requestsPerDay: PER_DAY,
    expiresAt: new Date(Date.now() + KEY_LIFETIME_MS).toISOString(),
  };
  const shape = v.object({ id: v.string(), key: v.string() });
  try {
    const { id, key } = await bodyOf(access, adminClient(access).keys.$post({ json }), shape);
    return { detail: id, value: { id, key } };
  } catch (thrown) {
    if (!(thrown instanceof LostAnswer)) throw thrown;
    throw new AdminFailure(`${thrown.message} If it was issued, ${KEY_MAY_BE_LEFT}`, { cause: thrown });
  }
}

async function list(access: Access, key: string): Promise<Passed<string>> {
  const response = await send(access, LIST, key);
  expectStatus(response, 200);
  const etag = response.headers.get("ETag");
  if (etag === null) throw new AdminFailure("200 without an ETag");
  const { limit, remaining } = rateLimitOf(response);
  if (limit !== PER_MINUTE || remaining !== PER_MINUTE - 1) {
    throw new AdminFailure(
      `X-RateLimit-Remaining is ${remaining} of ${limit}, not ${PER_MINUTE - 1} of ${PER_MINUTE}`,
    );
  }
  return { detail: `200, ${remaining} of ${limit} remaining`, value: etag };
}

/** Orders may have changed meanwhile, so a new list is as good as a 304. */
async function unchangedList(access: Access, key: string, etag = ""): Promise<Passed<void>> {
  const response = await send(access, LIST, key, { "If-None-Match": etag });
  const isChanged = response.status === 200 && response.headers.get("ETag") !== etag;
  if (!isChanged) expectStatus(response, 304);
  const { remaining } = rateLimitOf(response);
  return { detail: `${response.status}, ${remaining} remaining`, value: undefined };
}

/** A negative id, which no store uses. */
function unusedOrderId(): string {
  return `-${Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)}`;
}

async function importOrder(access: Access, order: Order): Promise<Passed<void>> {
  order.isImportUncertain = access.signal?.aborted !== true; // after an interruption nothing is sent
  const answer = postOrders(access, { file: "smoke test" }, `{"id":${order.id},"status":"pending"}`);
  await answerOf(
    access,
    answer.then((response) => {
      order.isImportUncertain = response.status >= 500; // also such an import may still be carried out
      return response;
    }),
  );
  return { detail: `order ${order.id}`, value: undefined };
}

/** The order may not exist: the import may have failed, and a cancel may have been made although its answer was an error. */
async function deleteOrder(access: Access, { id, isImportUncertain }: Order): Promise<Passed<void>> {
  try {
    await answerOf(access, adminClient(access).orders[":orderId"].$delete({ param: { orderId: id } }));
    return { detail: `order ${id}`, value: undefined };
  } catch (thrown) {
    const reason = messageOf(thrown);
    if (reason !== "No order has this id.")
      throw new AdminFailure(`order ${id} may still be pending: ${reason}`);
    if (isImportUncertain)
      throw new AdminFailure(`order ${id} may still appear: its import may not have ended yet`);
    return { detail: reason, value: undefined };
  }
}

async function cancel(access: Access, key: string, orderId: string, status: number): Promise<Passed<void>> {
  const response = await send(access, `${LIST}/${orderId}`, key, {}, "DELETE");
  expectStatus(response, status);
  return { detail: `${status}`, value: undefined };
}

async function revokeKey(access: Access, id: string): Promise<Passed<true>> {
  const revoked = adminClient(access).keys[":id"].$delete({ param: { id } });
  const { effective: when } = await bodyOf(access, revoked, v.object(effective));
  return { detail: `effective ${when}`, value: true };
}

/** As a client, which an interruption does not stop. */
function send(
  { signal: _, ...access }: Access,
  path: string,
  key?: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<Response> {
  const authorization = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const init = { ...requestInit(access), method, headers: { ...headers, ...authorization } };
  return withConnection(access, fetch(new URL(path, access.baseUrl), init));
}

function expectStatus(response: Response, status: number): void {
  if (response.status !== status) throw new AdminFailure(`${response.status}, not ${status}`);
}

function rateLimitOf({ headers }: Response): { limit: number; remaining: number } {
  const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) =>
    headers.get(`X-RateLimit-${name}`),
  );
  if (!limit || !remaining || !reset) throw new AdminFailure("the X-RateLimit headers are missing");
  return { limit: Number(limit), remaining: Number(remaining) };
}
