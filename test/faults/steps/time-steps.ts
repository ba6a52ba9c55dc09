/** Steps of the platform: the clock moves, objects and isolates end, D1 does not answer, the cron runs. */
import fc from "fast-check";
import { CUSTOMERS, DAY, MINUTE, SECOND } from "../model/world.ts";
import { anyKey, at, isolate, type Step, step } from "./step.ts";

const clock = step(
  "clock",
  { ms: fc.constantFrom(1, 300, SECOND, 7 * SECOND, 30 * SECOND, MINUTE, 90 * SECOND, 11 * MINUTE) },
  (world, { ms }) => world.advance(ms),
);

/** To the end of a minute, an hour or a day, or just after it, when reports are due. */
const boundary = step(
  "clock to a boundary",
  {
    length: fc.constantFrom(MINUTE, 60 * MINUTE, DAY),
    afterMs: fc.constantFrom(-1, 0, 1, 5 * MINUTE, 16 * MINUTE),
  },
  (world, { length, afterMs }) => {
    const end = Math.ceil((world.nowMs + 1) / length) * length + afterMs;
    return world.advance(Math.max(0, end - world.nowMs));
  },
);

const days = step("clock by days", { days: fc.integer({ min: 1, max: 3 }) }, (world, { days }) =>
  world.advance(days * DAY),
);

const crash = step("crash of an object", { key: anyKey }, (world, { key }) =>
  world.crash(at(world.keys, key)),
);

const crashOfCustomer = step(
  "crash of a customer's object",
  { customer: fc.constantFrom(...CUSTOMERS) },
  (world, { customer }) => world.crashCustomer(customer),
);

const evict = step("eviction of idle objects", {}, async (world) => {
  await world.pause();
  for (const key of world.keys) await world.crash(key);
  for (const customer of CUSTOMERS) await world.crashCustomer(customer);
});

const restart = step("restart of an isolate", { isolate }, (world, { isolate }) =>
  world.service.control("restart", {}, isolate),
);

const reports = step(
  "answers to reports",
  { fault: fc.constantFrom("none" as const, "fail" as const, "lost" as const, "lost" as const) },
  async (world, { fault }) => {
    world.reports = fault;
  },
);

const policies = step(
  "answers to loads of policies",
  {
    fault: fc.constantFrom(...(["none", "none", "none", "fail", "lost", "slow"] as const)),
  },
  async (world, { fault }) => {
    world.policies = fault;
  },
);

const cron = step("cron", {}, (world) => world.service.control("cron", { nowMs: world.nowMs }));

export const timeSteps: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> }[] = [
  { weight: 8, arbitrary: clock },
  { weight: 7, arbitrary: boundary },
  { weight: 4, arbitrary: days },
  { weight: 6, arbitrary: crash },
  { weight: 2, arbitrary: crashOfCustomer },
  { weight: 1, arbitrary: evict },
  { weight: 4, arbitrary: restart },
  { weight: 5, arbitrary: reports },
  { weight: 3, arbitrary: policies },
  { weight: 2, arbitrary: cron },
];
