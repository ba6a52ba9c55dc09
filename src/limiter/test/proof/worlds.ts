/** The scopes of the proof: few windows, few costs and few times, in which everything can still go wrong. */
import { type Cost, type Limit, type Policy, perDay, perMonth, perWeek } from "../../index.ts";
import { explore, type World } from "./explore.ts";
import { type Image, Machine, withMachine } from "./machine.ts";
import { NEW } from "./model.ts";
import { textOf } from "./text.ts";
import { TURNS } from "./turns.ts";
import { UNUSED, type Usage } from "./usage.ts";
import { refuseWrongCalls, refuseWrongRules } from "./wrong.ts";

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);

/** A world of one object. */
type Scope = Pick<World<Image>, "name" | "scope" | "depth"> & {
  readonly startMs: number;
  readonly policy: Policy;
  /** After this time everything is as before: the least common multiple of the windows. */
  readonly periodMs: number;
  /** Beyond this, times differ no more. */
  readonly farMs: number;
  readonly usage?: Usage;
  /** An event that cannot happen returns false. */
  readonly events: Readonly<Record<string, (machine: Machine) => unknown>>;
};

/** Settles the oldest open request. */
const settle = (cost: Cost<string>) => (machine: Machine) => {
  const [oldest] = machine.model.open;
  return oldest === undefined ? false : machine.settle(oldest.id, cost);
};
/** A request of a cost that is settled later; again, if its answer was lost. So many may be open. */
const reserve =
  (cost: Cost<string>, times = 1, most = 2) =>
  (machine: Machine) => {
    const { open, settled } = machine.model;
    const settleId = ["a", "b", "c", "d"].find((id) => ![...open, ...settled].some((each) => each.id === id));
    if (open.length + times > most || settleId === undefined) return false;
    return machine.ask(...Array(times).fill({ cost, settleId }));
  };
const ask =
  (...costs: Cost<string>[]) =>
  (machine: Machine) =>
    machine.ask(...costs.map((cost) => ({ cost })));
const pass = (ms: number) => (machine: Machine) => machine.pass(ms);
const crash = (machine: Machine) => machine.crash();
/** The write fails; without a write, the request is decided as ever. */
const failingWrite = (cost: Cost<string>) => (machine: Machine) => {
  machine.isReadOnly = true;
  return machine.ask({ cost }, { cost });
};
const change = (policy: Policy | null) => (machine: Machine) => {
  machine.policy = policy;
};
const limit = (name: string, requests: number, seconds: Limit["seconds"]): Limit => ({
  name,
  requests,
  seconds,
});

/** A clock that is set back, while it is not behind what was counted already. */
const back = (ms: number) => (machine: Machine) =>
  machine.model.windows.some(({ startMs }) => startMs > machine.nowMs) ? false : machine.pass(-ms);
const block = (ms: number) => (machine: Machine) =>
  machine.block({ endsAtMs: machine.nowMs + ms, reason: null });

const a = limit("a", 3, 1);
const b = limit("b", 4, 2);
const WINDOWS: Scope = {
  name: "windows",
  scope:
    "windows of 1, 2 and 4 s with limits of 2 to 5; costs 1, 2 and 4, alone and in one call; two open requests, settled with 0, 1 or 3; a clock that is set back; crashes; failed writes; wrong calls; a change of limits",
  startMs: START,
  policy: { limits: [a, b] },
  depth: [4, 11],
  periodMs: 4_000,
  farMs: 8_000,
  events: {
    "a request": ask(1),
    "one of cost 2": ask(2),
    "one of cost 4": ask(4),
    "two in one call": ask(1, 2),
    "a reserve": reserve(2),
    "a reserve, and again as its answer was lost": reserve(1, 2),
    "settled with 0": settle(0),
    "settled with 1": settle(1),
    "settled with 3": settle(3),
    "half a second": pass(500),
    "two seconds": pass(2_000),
    "0.5 s back": back(500),
    "a crash": crash,
    "a write that fails": failingWrite(1),
    "wrong calls": refuseWrongCalls,
    "the first limits": change({ limits: [a, b] }),
    "other limits": change({ limits: [limit("b", 2, 2), limit("c", 5, 4)] }),
  },
};

const inT = (name: string, amount: number, seconds: Limit["seconds"]) => ({
  name,
  unit: "t",
  amount,
  seconds,
});
const UNITS: Scope = {
  name: "units",
  scope:
    "windows of 1 and 2 s for requests, and of 2 s for another unit; costs of each, of both and of none; two open requests, settled in one unit or both; a clock that is set back; crashes; failed writes; a limit of 0; a change of limits",
  startMs: START,
  policy: { limits: [limit("a", 2, 1), limit("b", 3, 2), inT("t", 5, 2)] },
  depth: [4, 9],
  periodMs: 2_000,
  farMs: 4_000,
  events: {
    "a request": ask(1),
    "one of 2 t": ask({ t: 2 }),
    "4 t without a request": ask({ requests: 0, t: 4 }),
    "one of 6 t": ask({ t: 6 }),
    "two in one call": ask({ t: 1 }, { requests: 2, t: 1 }),
    "a reserve": reserve({ t: 3 }),
    "a reserve, and again as its answer was lost": reserve({ requests: 0, t: 1 }, 2),
    "settled with 0 of both": settle({ requests: 0, t: 0 }),
    "settled with 5 t": settle({ t: 5 }),
    "settled with 2": settle(2),
    "a second": pass(1_000),
    "0.5 s back": back(500),
    "a crash": crash,
    "a write that fails": failingWrite({ t: 1 }),
    "the first limits": change({ limits: [limit("a", 2, 1), limit("b", 3, 2), inT("t", 5, 2)] }),
    "other limits": change({ limits: [inT("u", 3, 1), inT("a", 4, 2), limit("t", 0, 2)] }),
  },
};

const BANS: Scope = {
  name: "bans",
  scope:
    "a window of 8 s; costs 1 and 2, of which 2 is too much; a ban after two strikes or one, of 5 or 20 s; pardons; blocks of the code and of the policy; a clock that is set back; crashes; failed writes",
  startMs: START,
  policy: { limits: [limit("a", 1, 8)], bans: { strikes: 2, firstSeconds: 5 } },
  depth: [5, 9],
  periodMs: 8_000,
  farMs: 2 * DAY_MS,
  events: {
    "a request": ask(1),
    "one of cost 2": ask(2),
    "2 seconds": pass(2_000),
    "1.5 seconds": pass(1_500),
    // The last second of a window is no strike.
    "7 seconds": pass(7_000),
    "7.001 seconds": pass(7_001),
    "a day": pass(DAY_MS),
    "1.5 s back": back(1_500),
    "a pardon": (machine) => machine.pardon(),
    "a block": block(2_500),
    "a block is lifted": (machine) => machine.unblock(),
    "a crash": crash,
    "a write that fails": failingWrite(1),
    "a harder rule": change({ limits: [limit("a", 1, 8)], bans: { strikes: 1, firstSeconds: 20 } }),
    "a blocked key": change({
      limits: [limit("a", 1, 8)],
      bans: { strikes: 2, firstSeconds: 5 },
      blocked: { endsAtMs: START + 20_000, reason: "r" },
    }),
  },
};

const AHEAD: Scope = {
  name: "blocks ahead",
  scope:
    "windows of 30 and 60 s with limits of 200 to 450, counted ahead in blocks; costs 1 to 140; settlements; crashes; failed writes; a change of limits, also below 300",
  startMs: START,
  policy: { limits: [limit("a", 300, 30), limit("b", 450, 60)] },
  depth: [4, 7],
  periodMs: 60_000,
  farMs: 120_000,
  events: {
    "a request": ask(1),
    "one of cost 20": ask(20),
    "one of cost 140": ask(140),
    "three in one call": ask(1, 20, 1),
    "a reserve": reserve(20),
    "settled with 5": settle(5),
    "a second": pass(1_000),
    "half a minute": pass(30_000),
    "a crash": crash,
    "a write that fails": failingWrite(5),
    "the first limits": change({ limits: [limit("a", 300, 30), limit("b", 450, 60)] }),
    "lower limits": change({ limits: [limit("a", 310, 30), limit("b", 200, 60)] }),
    "a limit below 300": change({ limits: [limit("a", 299, 30)] }),
  },
};

const UNITS_AHEAD: Scope = {
  name: "units ahead",
  scope:
    "windows of 30 s for requests and for another unit, counted ahead in blocks; costs of each and of both; settlements; crashes; failed writes; a limit below 300 of either",
  startMs: START,
  policy: { limits: [limit("a", 400, 30), inT("t", 900, 30)] },
  depth: [4, 7],
  periodMs: 30_000,
  farMs: 60_000,
  events: {
    "a request": ask(1),
    "one of 9 t": ask({ t: 9 }),
    "40 t without a request": ask({ requests: 0, t: 40 }),
    "one of 300 t": ask({ t: 300 }),
    "three in one call": ask(1, { t: 9 }, { requests: 0, t: 2 }),
    "a reserve": reserve({ requests: 5, t: 20 }),
    "settled with 7 t": settle({ t: 7 }),
    "a second": pass(1_000),
    "half a minute": pass(30_000),
    "a crash": crash,
    "a write that fails": failingWrite({ t: 5 }),
    "the first limits": change({ limits: [limit("a", 400, 30), inT("t", 900, 30)] }),
    "few requests": change({ limits: [limit("a", 299, 30), inT("t", 900, 30)] }),
    "little t": change({ limits: [limit("a", 400, 30), inT("t", 250, 30)] }),
  },
};

/** A request, or several in one call, while a report fares as said. */
const told =
  (receiver: Machine["receiver"], costs: readonly number[] = [1]) =>
  async (machine: Machine) => {
    machine.receiver = receiver;
    await machine.ask(...costs.map((cost) => ({ cost })));
    machine.checkNews();
  };
const alarm = (receiver: Machine["receiver"]) => (machine: Machine) => {
  machine.receiver = receiver;
  return machine.alarm();
};

const USAGE: Scope = {
  name: "usage",
  scope:
    "a window of an hour and of a day; bans; shares of 50 and 100 %; reports that fail or whose answer is lost; the alarm and the deletion; crashes",
  startMs: START + 10 * 3_600_000,
  policy: { limits: [limit("a", 4, 3_600), limit("b", 6, 86_400)], bans: { strikes: 1, firstSeconds: 60 } },
  depth: [4, 6],
  periodMs: DAY_MS,
  farMs: 3 * DAY_MS,
  usage: UNUSED,
  events: {
    "a request": told("hears"),
    "a request, and a report that fails": told("fails"),
    "a request, and a report whose answer is lost": told("hears, and its answer is lost"),
    "three in one call": told("hears", [1, 1, 1]),
    "a request, and one while it is reported": async (machine) => {
      await told("hears, and answers late")(machine);
      await told("hears")(machine);
    },
    "a request and five seconds": async (machine) => {
      await machine.ask({});
      await machine.checkLag();
    },
    "2 seconds": pass(2_000),
    "a minute": pass(60_000),
    "an hour": pass(3_600_000),
    "a day": pass(DAY_MS),
    "2 s back": back(2_000),
    "the alarm": alarm("hears"),
    "the alarm, and a report that fails": alarm("fails"),
    "five more reports that fail": (machine) => machine.repeatNews(5),
    "a flush": (machine) => machine.flush(),
    "a crash": crash,
  },
};

const USAGE_AHEAD: Scope = {
  name: "usage ahead",
  scope: "half a day and a day, counted ahead in blocks; an open request; reports that fail; crashes",
  startMs: START + 10 * 3_600_000,
  policy: { limits: [limit("a", 300, 43_200), limit("b", 500, 86_400)] },
  depth: [4, 6],
  periodMs: DAY_MS,
  farMs: 3 * DAY_MS,
  usage: UNUSED,
  events: {
    "a request": ask(1),
    "one of cost 9, a report that fails, and one more": async (machine) => {
      await told("fails", [9])(machine);
      await machine.ask({});
    },
    "three in one call, and a report whose answer is lost": told("hears, and its answer is lost", [1, 90, 1]),
    "eight in one call": ask(1, 1, 1, 1, 1, 1, 1, 1),
    "a reserve": reserve(20),
    "settled with 0": settle(0),
    "six seconds": pass(6_000),
    "an hour": pass(3_600_000),
    "the alarm": alarm("hears"),
    "a flush": (machine) => machine.flush(),
    "a crash": crash,
  },
};

const CALENDAR: Scope = {
  name: "calendar",
  scope:
    "days, weeks and months at the end of a week and of a month; limits that replace others later; a clock that is set back; crashes",
  startMs: Date.UTC(2026, 10, 29, 23, 59, 59),
  policy: { limits: [perMonth(4), perDay(2)] },
  depth: [5, 14],
  periodMs: Number.POSITIVE_INFINITY,
  farMs: 70 * DAY_MS,
  events: {
    "a request": ask(1),
    "one of cost 2": ask(2),
    "a second": pass(1_000),
    "a day": pass(DAY_MS),
    "a second back": back(1_000),
    "a crash": crash,
    "a week in place of the month": change({
      limits: [perWeek(3), perDay(2)],
      later: { fromMs: Date.UTC(2026, 10, 30), limits: [perDay(1), perWeek(2)] },
    }),
    "another month later": change({
      limits: [perMonth(4), perDay(2)],
      later: { fromMs: Date.UTC(2026, 11), limits: [perMonth(1)] },
    }),
  },
};

const withSecrets: Policy = {
  limits: [limit("a", 2, 1), limit("b", 0, 2)],
  credentials: [
    { hash: "old", expiresAtMs: START + 1_000 },
    { hash: "new", expiresAtMs: null },
  ],
  facts: { plan: "p" },
};
const SECRETS: Scope = {
  name: "secrets",
  scope:
    "an old secret that ends, a new one, a wrong one and none; a refused key; no key; a limit of 0; wrong rules; crashes",
  startMs: START,
  policy: { ...withSecrets, limits: [limit("a", 2, 1)] },
  depth: [6, 20],
  periodMs: Number.POSITIVE_INFINITY,
  farMs: 4_000,
  events: {
    "the old secret": (machine) => machine.ask({ credential: "old" }),
    "the new secret": (machine) => machine.ask({ credential: "new" }),
    "a wrong secret": (machine) => machine.ask({ credential: "wrong" }),
    "no secret": (machine) => machine.ask({}),
    "half a second": (machine) => (machine.nowMs < START + 2_000 ? machine.pass(500) : false),
    "a crash": crash,
    "a limit of 0": change(withSecrets),
    "a refused key": change({ ...withSecrets, refused: "revoked" }),
    "wrong rules": refuseWrongRules,
    "no key": change(null),
  },
};

/** A request each second. */
const poll = (seconds: number) => async (machine: Machine) => {
  for (let i = 0; i < seconds; i++) {
    await machine.pass(1_000);
    await machine.ask({});
  }
};
const DEFAULT_BANS: Scope = {
  name: "bans by default",
  scope: "a day with the default rule: 20 strikes, bans of 5 minutes to a day; pardons; crashes",
  startMs: START,
  policy: { limits: [perDay(1)], bans: {} },
  depth: [5, 10],
  periodMs: DAY_MS,
  farMs: 3 * DAY_MS,
  events: {
    "19 polls": poll(19),
    "a poll": poll(1),
    "590 seconds": pass(590_000),
    "the ban ends, and 25 polls": async (machine) => {
      const endsAtMs = machine.model.lastBan?.endsAtMs ?? 0;
      if (endsAtMs <= machine.nowMs) return false;
      await machine.pass(endsAtMs - machine.nowMs);
      return poll(25)(machine);
    },
    "a day": pass(DAY_MS),
    "a crash": crash,
    "a pardon": (machine) => machine.pardon(),
  },
};

const THOUSAND = Array.from({ length: 1_000 }, (_, i) => ({ settleId: `one of a thousand: ${i}` }));
const OPEN: Scope = {
  name: "a thousand open requests",
  scope: "a thousand requests in one call that have no cost yet, and some more; settlements; crashes",
  startMs: START,
  policy: { limits: [perDay(1_004)] },
  depth: [2, 4],
  periodMs: DAY_MS,
  farMs: 2 * DAY_MS,
  events: {
    "a thousand reserves": (machine) => (machine.model.open.length < 3 ? machine.ask(...THOUSAND) : false),
    "a reserve": reserve(1, 1, 2_000),
    "settled with 0": settle(0),
    "a crash": crash,
  },
};

const SCOPES = [
  WINDOWS,
  UNITS,
  AHEAD,
  UNITS_AHEAD,
  CALENDAR,
  BANS,
  DEFAULT_BANS,
  SECRETS,
  OPEN,
  USAGE,
  USAGE_AHEAD,
];

/** Explores each world, or the one with this name. */
export async function* proof(size: "quick" | "whole", only?: string, depth?: number) {
  const worlds = [...SCOPES.map(worldOf), TURNS];
  for (const world of worlds.filter(({ name }) => only === undefined || name === only)) {
    const length = depth ?? world.depth[size === "quick" ? 0 : 1];
    // Each world has states of its own type.
    const result = await withMachine(() => explore(world as World<unknown>, length));
    yield { ...result, name: world.name, scope: world.scope, depth: length };
  }
}

function worldOf({
  name,
  scope,
  depth,
  startMs,
  policy,
  periodMs,
  farMs,
  usage,
  events,
}: Scope): World<Image> {
  const steps = Object.entries(events).map(([event, run]) => [event, step(run)] as const);
  return {
    ...{ name, scope, depth },
    start: {
      row: undefined,
      memory: undefined,
      nowMs: startMs,
      policy,
      model: { ...NEW, usage: usage ?? null },
    },
    textOf: (image) => `${image.nowMs % periodMs} ${textOf(image, image.nowMs, farMs)}`,
    events: Object.fromEntries(steps),
  };
}

const step = (run: (machine: Machine) => unknown) => async (image: Image) => {
  const machine = new Machine(image);
  return (await run(machine)) === false ? undefined : machine.leave();
};
