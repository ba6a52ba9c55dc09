/** What a history says of a key's status, beside the status of each moment, for any changes and any time of the question. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { reasonsAt } from "../../../src/worker/admin/refusal-reasons.ts";
import type { AuditView } from "../../../src/worker/db/audit-repository.ts";
import { MINUTE_MS } from "../../../src/worker/limiter/core/quota.ts";
import { rfc3339, toUnixSeconds } from "../../../src/worker/time.ts";
import { FACTS, KEY } from "./key-facts.ts";

const START_MS = Date.parse("2038-06-01T10:40:00Z");

/** `expires` is in seconds from the change on; null: never. */
type Step =
  | { readonly status: "active" | "disabled" | "revoked" }
  | { readonly expires: number | null }
  | { readonly name: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ status: fc.constantFrom("active" as const, "disabled" as const) }) },
  { weight: 1, arbitrary: fc.record({ status: fc.constant("revoked" as const) }) },
  { weight: 4, arbitrary: fc.record({ expires: fc.option(fc.integer({ min: 1, max: 90 })) }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constantFrom("a", "b") }) },
);
const secondsLater = fc.oneof(fc.constantFrom(0, 60), fc.integer({ min: 0, max: 70 }));
/** A call takes as long until it is stored, or its isolate's clock is behind. */
const secondsBehind = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 90 }) },
);
const steps = fc.array(fc.tuple(secondsLater, step, secondsBehind), { maxLength: 12 });

type State = { readonly status: string; readonly expiresAt: string | null; readonly name: string };
/** A state from its change up to the next one, or up to now. */
type Period = State & { readonly fromMs: number; readonly untilMs: number; readonly actor: string };

const at = (ms: number) => rfc3339(toUnixSeconds(ms));

/** A key that is created at the start, with the facts that are read of it at the end. */
function run(
  steps: readonly (readonly [secondsLater: number, step: Step, secondsBehind: number])[],
  secondsUntilAsked: number,
) {
  let state: State = { status: "active", expiresAt: null, name: "k" };
  let nowMs = START_MS;
  const { name, expiresAt } = state;
  const changes = [entry(0, nowMs, "keys.create", null, { name, expiresAt, plan: "free" })];
  const began = [{ ...state, fromMs: nowMs, actor: "actor 0" }];
  let effectiveMs = nowMs;
  for (const [seconds, step, secondsBehind] of steps) {
    nowMs += seconds * 1000;
    const atMs = nowMs - secondsBehind * 1000;
    effectiveMs = Math.max(effectiveMs, atMs);
    if (state.status === "revoked") continue;
    const change = changeOf(step, nowMs);
    const before = Object.fromEntries(Object.keys(change).map((member) => [member, { ...state }[member]]));
    const id = changes.length;
    changes.unshift(entry(id, atMs, "keys.update", before, change));
    state = { ...state, ...change };
    began.push({ ...state, fromMs: effectiveMs, actor: `actor ${id}` });
  }
  nowMs += secondsUntilAsked * 1000;
  const periods = began.map((each, i) => ({ ...each, untilMs: began[i + 1]?.fromMs ?? nowMs }));
  const hasExpired = state.expiresAt !== null && Date.parse(state.expiresAt) <= nowMs;
  const status = state.status === "active" && hasExpired ? "expired" : state.status;
  const key = { ...KEY, ...state, status, createdAt: at(START_MS) } as typeof KEY; // its members are literals
  return { facts: { ...FACTS, key, changes }, periods, nowMs };
}

function entry(id: number, ms: number, call: string, before: unknown, after: unknown): AuditView {
  return { id, at: at(ms), requestId: "r", actor: `actor ${id}`, call, object: KEY.id, before, after };
}

function changeOf(step: Step, nowMs: number): Partial<State> {
  if (!("expires" in step)) return step;
  return { expiresAt: step.expires === null ? null : at(nowMs + step.expires * 1000) };
}

/** What refused a request in this second of the period. */
function refusalOf({ status, expiresAt }: Period, ms: number): string | undefined {
  if (status !== "active") return status;
  return expiresAt !== null && Date.parse(expiresAt) <= ms ? "expired" : undefined;
}

const TEXT = /^The key (?:was|had) (disabled|revoked|expired)\. Every request was answered 401\.$/;

type Told = {
  readonly word: string;
  readonly from: string | null;
  readonly until: string | null;
  readonly actor: string | null;
};

function toldOf({ facts, nowMs }: ReturnType<typeof run>, minuteMs: number): Told[] {
  return reasonsAt(facts, minuteMs, nowMs).flatMap(({ text, from, until, actor }) => {
    const [, word] = TEXT.exec(text) ?? [];
    return word === undefined ? [] : [{ word, from, until, actor }];
  });
}

/** Whether periods one after another have it, from its start up to its end. */
function isTrue({ word, from, until, actor }: Told, periods: readonly Period[]): boolean {
  return periods.some((first, i) => {
    const has = (each: Period) => (word === "expired" ? each.expiresAt === from : each.status === word);
    const follows = periods.slice(i);
    const next = follows.find((each) => !has(each));
    if (!has(first) || until !== (next === undefined ? null : at(next.fromMs))) return false;
    const endsMs = next === undefined ? Number.POSITIVE_INFINITY : next.fromMs;
    return word === "expired"
      ? actor === null && Date.parse(from ?? "") <= endsMs
      : actor === first.actor && from === at(first.fromMs);
  });
}

describe("the reason of a refusal by a key's status", () => {
  it("is each status of the minute, for any changes and any time of the question", ({ expect }) => {
    const found = { disabled: 0, revoked: 0, expired: 0, none: 0 };
    fc.assert(
      fc.property(steps, fc.nat({ max: 100 }), (steps, secondsUntilAsked) => {
        const key = run(steps, secondsUntilAsked);
        for (let minuteMs = START_MS; minuteMs <= key.nowMs; minuteMs += MINUTE_MS) {
          const told = toldOf(key, minuteMs);
          if (told.length === 0) found.none++;
          for (const each of told) {
            found[each.word as keyof typeof found]++; // TEXT has only these words
            expect(isTrue(each, key.periods), JSON.stringify(each)).toBe(true);
            expect(Date.parse(each.from ?? "")).toBeLessThan(minuteMs + MINUTE_MS);
            expect(Date.parse(each.from ?? "")).toBeLessThanOrEqual(key.nowMs);
            if (each.until !== null) expect(Date.parse(each.until)).toBeGreaterThanOrEqual(minuteMs);
          }
          expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(told.length);
          for (let ms = minuteMs; ms < minuteMs + MINUTE_MS && ms <= key.nowMs; ms += 1000)
            for (const period of key.periods.filter((each) => each.fromMs <= ms && ms <= each.untilMs)) {
              const word = refusalOf(period, ms);
              const isTold = ({ from, until, ...each }: Told) =>
                each.word === word &&
                Date.parse(from ?? "") <= ms &&
                (until === null || Date.parse(until) >= ms);
              expect(word === undefined || told.some(isTold), `${word} at ${at(ms)}`).toBe(true);
            }
        }
      }),
      { numRuns: 500 },
    );
    expect(Math.min(...Object.values(found))).toBeGreaterThan(0);
  });
});
