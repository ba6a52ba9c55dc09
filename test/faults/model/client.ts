/** Sends requests of clients and operators to an isolate, and compares what comes back with the model. */
import { ADMIN_TOKEN } from "../service.ts";
import {
  type Faults,
  INSTRUCTION_HEADER,
  type Instruction,
  type ObjectFault,
  TRACE_HEADER,
  type TraceEvent,
} from "../worker/control.ts";
import type { CustomerModel } from "./customer-model.ts";
import { Mismatch, type Seen, type SharedWindows } from "./limiter-model.ts";
import { countIn } from "./tally.ts";
import { DAY, type KeyModel, MINUTE, type World } from "./world.ts";

export const LIST = "/v1/store/orders";

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined: the body broke off. */
  readonly text: string | undefined;
  /** The code of an Error object. */
  readonly code: string | undefined;
  readonly trace: readonly TraceEvent[];
};

export type Call = {
  readonly isolate: number;
  readonly method?: string;
  readonly path: string;
  readonly faults?: Faults | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Sent at once with others: a fault of a call strikes all requests that share the call. */
  readonly isTogether?: boolean;
  readonly isEarlier?: boolean;
};

/** A timeout of the service is one of the answers. One of the test is a failure. */
const MAX_ANSWER_MS = 30_000;

export async function send(world: World, credential: string, call: Call): Promise<Answer> {
  const { urls } = world.service;
  const sentAtMs = Date.now();
  const url = urls[call.isolate % urls.length];
  const instruction: Instruction = {
    ...call.faults,
    nowMs: world.nowMs,
    // What operators set has times that the model must know to the second.
    skewMs: credential === ADMIN_TOKEN ? 0 : world.skewOf(call.isolate),
    reports: world.reports,
    policies: world.policies,
    isEarlier: call.isEarlier ?? false,
  };
  const response = await fetch(new URL(call.path, url), {
    method: call.method ?? "GET",
    headers: {
      ...call.headers,
      Authorization: `Bearer ${credential}`,
      [INSTRUCTION_HEADER]: JSON.stringify(instruction),
    },
    signal: AbortSignal.timeout(MAX_ANSWER_MS),
    ...(call.body === undefined ? {} : { body: call.body }),
  });
  const text = await response.text().catch(() => undefined);
  const code =
    response.status >= 400 && text !== undefined ? (JSON.parse(text) as { code?: string }).code : undefined;
  const trace = JSON.parse(response.headers.get(TRACE_HEADER) ?? "[]") as TraceEvent[]; // written by the Worker under test
  countRequest(world, response.status, call.faults, trace);
  const answer = { status: response.status, headers: response.headers, text, code, trace };
  const isSlow = Date.now() - sentAtMs >= SLOW_MACHINE_MS;
  if (isSlow && answer.status >= 500 && !hasFailed(answer) && !call.isTogether) throw new TooSlow();
  checkShape(answer, call);
  return answer;
}

/** How long the limiter is waited for, at TIMEOUT_SPEED. A machine that is busier shows nothing. */
const SLOW_MACHINE_MS = 900;

export class TooSlow extends Error {}

export function sendAsOperator(world: World, call: Call): Promise<Answer> {
  return send(world, ADMIN_TOKEN, { ...call, path: `/admin${call.path}` });
}

function countRequest(
  { tally }: World,
  status: number,
  faults: Faults | undefined,
  trace: readonly TraceEvent[],
): void {
  tally.requests++;
  countIn(tally.statuses, String(status));
  for (const { on, fault } of trace) {
    if (fault === undefined) continue;
    const where = on === "d1" ? "D1" : "limiter";
    countIn(
      tally.faults,
      fault === "thrown" ? `object: ${faults?.object ?? "no policy"}` : `${where}: ${fault}`,
    );
  }
}

/** Whether a fault struck that can make an answer a 5xx. */
export function hasFailed({ trace }: Answer): boolean {
  return trace.some(({ fault }) => fault !== undefined && fault !== "slow");
}

/** Every response has the triple. A 5xx needs a fault, is a 503, and says when to retry. */
function checkShape(answer: Answer, { path, isTogether }: Call): void {
  const { status, headers } = answer;
  for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"]) {
    if (!headers.has(name)) throw new Mismatch(`a ${status} of ${path} has no ${name}`);
  }
  if (status < 500) return;
  if (!hasFailed(answer) && !isTogether)
    throw new Mismatch(`${path} answered ${status} without a fault: ${answer.text}`);
  if (status !== 503) throw new Mismatch(`${path} answered ${status}, not 503: ${answer.text}`);
  if (headers.get("Retry-After") === null) throw new Mismatch(`a 503 of ${path} has no Retry-After`);
}

/** What the response to a key shows of its limiter; undefined if the limiter did not answer. */
export function seenOf({ status, code, headers, text }: Answer, nowMs: number): Seen | undefined {
  const items = (headers.get("RateLimit") ?? "").matchAll(/"([a-z-]+)";r=(\d+);t=(\d+)/g);
  const windows = new Map(Array.from(items, ([, name, remaining]) => [name, Number(remaining)]));
  const [minuteRemaining, dayRemaining] = [windows.get("minute"), windows.get("day")];
  if (minuteRemaining === undefined || dayRemaining === undefined) return undefined;
  const number = (name: string) => Number(headers.get(name));
  const refused = code === "key_banned" ? "banned" : isRefusedByShared({ text }) ? "shared" : "limited";
  const kind = status === 429 ? refused : "admitted";
  const shown = {
    limit: number("X-RateLimit-Limit"),
    remaining: number("X-RateLimit-Remaining"),
    resetAtMs: number("X-RateLimit-Reset") * 1000,
  };
  const retryAfter = status === 429 ? headers.get("Retry-After") : null;
  const [, strikes] = / (\d+) of the 20 seconds that lead to a ban are used/.exec(text ?? "") ?? [];
  return {
    kind,
    minuteRemaining,
    dayRemaining,
    shown,
    others: othersIn(headers, nowMs),
    retryAfterMs: retryAfter === null ? undefined : Number(retryAfter) * 1000,
    strikes: strikes === undefined ? undefined : Number(strikes),
  };
}

/** If the key's own limit refused, too, the message names the one that ends last, and the strikes. */
export function isRefusedByShared({ text = "" }: Pick<Answer, "text">): boolean {
  return text.includes(" of all keys together is used up") && !text.includes(" that lead to a ban");
}

/** The windows of the customer. */
function othersIn(headers: Headers, nowMs: number): SharedWindows {
  const policies = new Map(
    Array.from(
      (headers.get("RateLimit-Policy") ?? "").matchAll(/"([a-z-]+)";q=(\d+)/g),
      ([, name, limit]) => [name, Number(limit)],
    ),
  );
  const windowOf = (name: string, length: number) => {
    const limit = policies.get(`customer-${name}`);
    const item = new RegExp(`"customer-${name}";r=(\\d+);t=(\\d+)`).exec(headers.get("RateLimit") ?? "");
    if (limit === undefined || item === null) return undefined;
    const resetAtMs = (Math.floor(nowMs / length) + 1) * length;
    if (Number(item[2]) !== (Math.ceil((resetAtMs - nowMs) / 1_000) || 1))
      throw new Mismatch(`the customer's ${name} ends in ${item[2]} s`);
    return { limit, remaining: Number(item[1]), resetAtMs };
  };
  const [minute, day] = [windowOf("minute", MINUTE), windowOf("day", DAY)];
  return { ...(minute && { minute }), ...(day && { day }) };
}

/** No decision is made by a policy that was loaded longer ago, and one that is younger needs no database. */
const POLICY_MAX_AGE_MS = 86_400_000;

/** Compares the response with the key's limiter, call by call. Returns whether the request was admitted. */
export function applyToLimiter(world: World, key: KeyModel, answer: Answer, isUsable: boolean): boolean {
  const { limiter } = key;
  const policy = world.policyOf(key);
  const { nowMs } = world;
  const seen = seenOf(answer, nowMs);
  const shared = world.sharedOf(key);
  const hidden = () => (shared ? limiter.mayCount(policy, nowMs) : limiter.hidden(policy, nowMs));
  for (const event of answer.trace) {
    if (event.on !== "admit") continue;
    key.isUsed = true;
    if (event.fault === "thrown") checkFailure(world, key, event);
    else checkAge(world, key, event);
    if (event.fault === "thrown" && event.by?.startsWith("reset")) {
      if (isUsable && event.by === "reset-after") limiter.mayCount(policy, nowMs);
      limiter.crash(nowMs);
      key.loadedAtMs = undefined;
    }
    if (!isUsable) continue;
    if (event.fault === undefined) {
      if (seen) limiter.observe(policy, nowMs, seen);
      else if (answer.status === 503)
        hidden(); // the Worker did not wait so long
      else throw new Mismatch(`a ${answer.status} does not show what the limiter answered`);
    } else if (isAnswerLost(event)) hidden();
  }
  if (isUsable) applyToCustomer(world, shared, [answer]);
  return seen?.kind === "admitted";
}

/**
 * Compares requests that were decided beside each other with the customer's limiter, in an order in which it can have
 * decided them. Where the customer's limiter may have counted, and nobody knows, it has perhaps.
 */
export function applyToCustomer(
  world: World,
  customer: CustomerModel | undefined,
  answers: readonly Answer[],
): void {
  if (customer === undefined) return;
  const { nowMs } = world;
  let slack = 0;
  for (const { trace, status } of answers) {
    const events = trace.flatMap((event) => (event.on === "admit" ? [event] : []));
    for (const event of events) {
      const isUnknown = isAnswerLost(event) || MAY_HAVE_ASKED.includes(event.by ?? "throw-before");
      if (isUnknown || event.isSharedReset || (event.fault === undefined && status === 503))
        slack += event.requests;
      if (event.isSharedReset) slack += customer.crash();
    }
  }
  customer.mayCount(nowMs, slack);
  const left = ({ others: { minute, day } }: Seen) => (minute?.remaining ?? 0) + (day?.remaining ?? 0);
  const seen = answers.flatMap((answer) => seenOf(answer, nowMs) ?? []);
  const isShown = ({ kind, others }: Seen) =>
    kind === "admitted" || kind === "shared" || Object.keys(others).length > 0;
  for (const each of seen
    .filter(isShown)
    .toSorted((a, b) => left(b) - left(a) || rankOfShared(a) - rankOfShared(b)))
    customer.observe(nowMs, each.kind, each.others, slack);
}

/** The key may have asked the customer's limiter before it failed. */
const MAY_HAVE_ASKED: readonly ObjectFault[] = ["storage", "reset-after", "shared-lost"];

const rankOfShared = ({ kind }: Seen) => (kind === "admitted" ? 0 : 1);

type AdmitEvent = Extract<TraceEvent, { on: "admit" | "other-call" }>;

/** The limiter has decided, and the Worker does not know. */
function isAnswerLost({ fault, by }: AdmitEvent): boolean {
  return fault === "lost" || fault === "lost-reset" || fault === "hang-lost" || by === "throw-after";
}

/** The limiter has answered, so it has a policy. */
function checkAge(world: World, key: KeyModel, { fault, loadedAtMs }: AdmitEvent): void {
  if (fault === "fail" || fault === "fail-reset" || fault === "hang") return;
  if (loadedAtMs === undefined || world.nowMs - loadedAtMs > POLICY_MAX_AGE_MS)
    throw new Mismatch(`a request was decided by a policy of ${loadedAtMs}, at ${world.nowMs}`);
  key.loadedAtMs = loadedAtMs;
}

/** Unless the object was made to fail, the policy cannot be loaded, and none is young enough. */
function checkFailure(world: World, key: KeyModel, { by }: AdmitEvent): void {
  if (by !== undefined) return;
  if (world.policies === "none") throw new Mismatch("the limiter failed, and D1 answers");
  // The policy of the customer may have to be loaded.
  if (world.sharedOf(key) !== undefined) return;
  const { loadedAtMs } = key;
  if (loadedAtMs !== undefined && world.nowMs - loadedAtMs <= POLICY_MAX_AGE_MS)
    throw new Mismatch(`the limiter failed at ${world.nowMs}, with a policy of ${loadedAtMs}`);
}

/**
 * Compares requests that were sent at once, in an order in which the limiter can have decided them: what
 * remains falls, and refusals come last. Those that share a call share its fault.
 */
export function applyTogether(world: World, key: KeyModel, answers: readonly Answer[]): void {
  const { limiter } = key;
  const policy = world.policyOf(key);
  const { nowMs } = world;
  const events = answers.flatMap(({ trace }) => trace.flatMap((each) => (each.on === "admit" ? [each] : [])));
  const decided: { readonly rank: number; readonly apply: () => void }[] = [];
  let failed = 0;
  for (const event of events) {
    key.isUsed = true;
    world.tally.sharing += event.requests - 1;
    if (event.fault === "thrown") checkFailure(world, key, event);
    else checkAge(world, key, event);
    for (const { kind, by, dayRemaining } of event.lost ?? [])
      decided.push({
        rank: rankOf(kind, dayRemaining),
        apply: () => limiter.decided(policy, nowMs, by?.startsWith("customer") ?? false),
      });
    // After a reset the Worker has asked once more.
    if (event.fault !== undefined && !event.fault.endsWith("-reset")) failed += event.requests;
  }
  for (const answer of answers) {
    const seen = seenOf(answer, nowMs);
    if (seen)
      decided.push({
        rank: rankOf(seen.kind, seen.dayRemaining),
        apply: () => limiter.observe(policy, nowMs, seen),
      });
    else if (answer.status === 503) failed--;
    else throw new Mismatch(`a ${answer.status} does not show what the limiter answered`);
  }
  if (failed !== 0) throw new Mismatch(`${failed} more requests failed than got a 503`);
  for (const { apply } of decided.toSorted((a, b) => a.rank - b.rank)) apply();
}

const rankOf = (kind: string, dayRemaining: number) =>
  kind === "admitted" ? -dayRemaining : kind === "banned" ? 2 : 1;

/** Sends a request with a key, and compares everything that its limiter decides. */
export async function sendAsClient(
  world: World,
  key: KeyModel,
  secret: KeyModel["secrets"][number],
  call: Call,
): Promise<Answer & { readonly isAdmitted: boolean }> {
  const answer = await send(world, secret.key, call);
  const isUsable = world.isUsable(key, secret);
  const isAdmitted = applyToLimiter(world, key, answer, isUsable);
  const { status } = answer;
  if (!isUsable) {
    if (status !== 401 && status !== 503) throw new Mismatch(`a key that is not usable got ${status}`);
  } else if (status === 401) {
    throw new Mismatch("a usable key got 401");
  } else if (!isAdmitted && status !== 429 && status !== 503) {
    throw new Mismatch(`a request that was not admitted got ${status}`);
  }
  return { ...answer, isAdmitted };
}
