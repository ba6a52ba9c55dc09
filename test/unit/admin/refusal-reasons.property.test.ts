/** What a history says of the limits, beside what the limiter decided, for any requests and changes of limits. */
import fc from "fast-check";
import { describe, it } from "vitest";
import type { KeyFacts } from "../../../src/worker/admin/key-history.ts";
import { planAt, reasonsAt } from "../../../src/worker/admin/refusal-reasons.ts";
import type { AuditView } from "../../../src/worker/db/audit-repository.ts";
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";
import { HOUR_MS, MINUTE_MS, windowStartMs } from "../../../src/worker/limiter/core/quota.ts";
import type { Decided } from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import { rfc3339, toUnixSeconds } from "../../../src/worker/time.ts";
import { SimulatedLimiter } from "../limiter/simulated-limiter.ts";
import { FACTS, KEY } from "./key-facts.ts";

const DAY_STARTS_MS = Date.parse("2038-06-01T00:00:00Z");
const DAY_ENDS_MS = Date.parse("2038-06-02T00:00:00Z");

type Change =
  | { readonly requestsPerMinute: number | null }
  | { readonly requestsPerDay: number | null }
  | { readonly plan: "free" | "pro" };

type Event =
  | { readonly kind: "requests"; readonly count: number }
  | { readonly kind: "key"; readonly change: Change }
  | { readonly kind: "plan"; readonly plan: "free" | "pro"; readonly change: Change };

const plan = fc.constantFrom("free" as const, "pro" as const);
const perMinute = fc.integer({ min: 2, max: 8 });
const perDay = fc.integer({ min: 4, max: 40 });

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("requests" as const),
      count: fc.integer({ min: 1, max: 10 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("key" as const),
      change: fc.oneof(
        fc.record({ requestsPerMinute: fc.option(perMinute) }),
        fc.record({ requestsPerDay: fc.option(perDay) }),
        fc.record({ plan }),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("plan" as const),
      plan,
      change: fc.oneof(fc.record({ requestsPerMinute: perMinute }), fc.record({ requestsPerDay: perDay })),
    }),
  },
);

/** Often in the same second or minute, as the audit log has whole seconds. */
const secondsLater = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(0, 60, 600, 1_800) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 90 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 900 }) },
);
const steps = fc.array(fc.tuple(secondsLater, event), { minLength: 3, maxLength: 40 });
/** How many steps come before the key is created. */
const created = fc.nat({ max: 4 });

type Answer = { readonly atMs: number; readonly verdict: Decided };

/** A day of one key, with the facts that are read of it. */
function runDay(
  steps: readonly (readonly [secondsLater: number, event: Event])[],
  created: number,
  isAskedAfterDay: boolean,
) {
  const plans = {
    free: { requestsPerMinute: 3, requestsPerDay: 12 },
    pro: { requestsPerMinute: 6, requestsPerDay: 30 },
  };
  const key = { requestsPerMinute: null, requestsPerDay: null, plan: "free" as "free" | "pro" };
  const limiter = new SimulatedLimiter();
  const answers: Answer[] = [];
  const changes: AuditView[] = [];
  let nowMs = DAY_STARTS_MS;
  let createdAt = rfc3339(toUnixSeconds(nowMs));
  const store = (call: string, object: string, before: unknown, after: unknown) => {
    const at = rfc3339(toUnixSeconds(nowMs));
    changes.unshift({ id: changes.length, at, requestId: "r", actor: "ada", call, object, before, after });
  };
  for (const [index, [secondsLater, event]] of steps.entries()) {
    nowMs += secondsLater * 1000;
    if (index === created) {
      createdAt = rfc3339(toUnixSeconds(nowMs));
      store("keys.create", KEY.id, null, { ...key });
    }
    if (index < created && event.kind !== "plan") continue;
    if (event.kind === "requests") {
      const of = plans[key.plan];
      const limits: Limits = {
        perMinute: key.requestsPerMinute ?? of.requestsPerMinute,
        perDay: key.requestsPerDay ?? of.requestsPerDay,
      };
      for (let i = 0; i < event.count; i++)
        answers.push({ atMs: nowMs, verdict: limiter.request(limits, nowMs) });
      continue;
    }
    const changed = event.kind === "key" ? key : plans[event.plan];
    const [call, object] = event.kind === "key" ? ["keys.update", KEY.id] : ["plans.update", event.plan];
    store(call, object, { ...changed }, event.change);
    Object.assign(changed, event.change);
  }
  const ofKey = changes.filter(({ object }) => object === KEY.id);
  const facts = {
    ...FACTS,
    key: { ...KEY, ...key, createdAt },
    changes: ofKey,
    planChanges: changes.filter(({ object }) => object !== KEY.id),
    hours: hoursOf(answers),
  };
  const reasonOf = (atMs: number) => {
    const planThen = planAt(facts, atMs) === "free" ? plans.free : plans.pro;
    const askedMs = isAskedAfterDay ? DAY_ENDS_MS : nowMs;
    const reasons = reasonsAt({ ...facts, plan: planThen }, atMs, askedMs);
    return reasons.find(({ kind }) => kind === "refusals")?.text ?? "";
  };
  return { answers, changes, reasonOf };
}

function hoursOf(answers: readonly Answer[]): KeyFacts["hours"] {
  return Array.from({ length: 24 }, (_, i) => {
    const startMs = DAY_STARTS_MS + i * HOUR_MS;
    const of = (kind: string) => between(answers, startMs, startMs + HOUR_MS, kind).length;
    return {
      hour: rfc3339(toUnixSeconds(startMs)),
      ...{ admitted: of("admitted"), refused: of("limited"), refusedWhileBanned: of("banned") },
      live: true,
    };
  });
}

function between(answers: readonly Answer[], fromMs: number, toMs: number, kind: string): Answer[] {
  return answers.filter(({ atMs, verdict }) => fromMs <= atMs && atMs < toMs && verdict.kind === kind);
}

/** The window and the limit that each request was refused by. */
function windowsOf(answers: readonly Answer[]): string[] {
  return answers.flatMap(({ verdict }) =>
    verdict.kind === "limited" ? [`${verdict.exhausted.name} ${verdict.exhausted.limit}`] : [],
  );
}

const DAY_BEFORE = /^The day's limit of (\d+) was used up before this hour\. No further request was/;
const DAY_WITHIN =
  /^The day's limit of (\d+) was used up in this hour\. .* was the limit of (\d+) a minute\./;
const MINUTE = /^The limit of (\d+) a minute was used up in one or more minutes of this hour\./;
const NOT_KNOWN = /^A limit changed in this hour, so it is not known which one was used up\./;
const UNTIL =
  /request was admitted (?:until midnight UTC|up to now; the day ends at midnight UTC|at least until the limit changed at (\S+))\./;

describe("the reason of a refusal by a limit", () => {
  it("is what the limiter decided, for any requests and changes of limits", ({ expect }) => {
    const found = { before: 0, within: 0, minute: 0, notKnown: 0 };
    fc.assert(
      fc.property(steps, created, fc.boolean(), (steps, created, isAskedAfterDay) => {
        const { answers, changes, reasonOf } = runDay(steps, created, isAskedAfterDay);
        const minutes = new Set(answers.map(({ atMs }) => windowStartMs(atMs, MINUTE_MS)));
        for (const atMs of minutes) {
          const reason = reasonOf(atMs);
          const hourMs = windowStartMs(atMs, HOUR_MS);
          const hourEndMs = hourMs + HOUR_MS;
          const refused = windowsOf(between(answers, hourMs, hourEndMs, "limited"));
          const until = UNTIL.exec(reason)?.[1];
          expect(reason.includes("until midnight UTC")).toBe(
            UNTIL.test(reason) && until === undefined && isAskedAfterDay,
          );
          const untilMs = until === undefined ? DAY_ENDS_MS : Date.parse(until);
          const [, before] = DAY_BEFORE.exec(reason) ?? [];
          const [, within, beside] = DAY_WITHIN.exec(reason) ?? [];
          const [, minute] = MINUTE.exec(reason) ?? [];
          if (before !== undefined) {
            found.before++;
            expect(between(answers, hourMs, untilMs, "admitted")).toEqual([]);
            const windows = windowsOf(between(answers, hourMs, untilMs, "limited"));
            expect(windows.filter((each) => each !== `day ${before}`)).toEqual([]);
          } else if (within !== undefined) {
            found.within++;
            expect(between(answers, hourEndMs, untilMs, "admitted")).toEqual([]);
            const possible = [`day ${within}`, `minute ${beside}`];
            expect(refused.filter((each) => !possible.includes(each))).toEqual([]);
          } else if (minute !== undefined) {
            found.minute++;
            expect(new Set(refused)).toEqual(new Set([`minute ${minute}`]));
          } else if (NOT_KNOWN.test(reason)) {
            found.notKnown++;
            const times = changes.map(({ at }) => Date.parse(at));
            expect(times.some((ms) => hourMs <= ms && ms < hourEndMs)).toBe(true);
          } else {
            expect(refused).toEqual([]);
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(Math.min(...Object.values(found))).toBeGreaterThan(0);
  });
});
