/**
 * What the limiter promises, in its simplest form. It shares no code and no constants with the real one, and
 * knows no rows, no reserves ahead and no reports.
 */
import type { Block, LimiterCall, Policy, WindowLength } from "../../index.ts";
import type { Usage } from "./usage.ts";

type Window = { readonly unit: string; readonly seconds: WindowLength; readonly startMs: number };
type Used = Window & { readonly used: number };
/** A window that has counted, and how much of it a crash may lose now: what could have been reserved for others. */
type Counted = Used & { readonly mayLose: number };
export type View = Used & {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly endsAtMs: number;
};
/** An admitted request whose cost is not settled, and what it has reserved in each window. */
type Open = { readonly id: string; readonly windows: readonly Used[] };

export type Model = {
  /** The newest window of each unit and length. A clock that ran back stays in it. */
  readonly windows: readonly Counted[];
  readonly open: readonly Open[];
  /** Settlements that a crash would undo, because no write has stored them. */
  readonly settled: readonly (Open & { readonly final: Open["windows"] })[];
  readonly refused: {
    readonly endsAtMs: number;
    readonly firstRefusalAtMs: number;
    readonly strikes: readonly number[];
  } | null;
  readonly lastBan: { readonly id: string; readonly lengthMs: number; readonly endsAtMs: number } | null;
  readonly block: Block | null;
  /** Null if the object has no `report`. */
  readonly usage: Usage | null;
};

export const NEW: Model = {
  windows: [],
  open: [],
  settled: [],
  refused: null,
  lastBan: null,
  block: null,
  usage: null,
};

export type Ban = { readonly id: string | null; readonly reason: string | null; readonly endsAtMs: number };

/** What a request must be answered. `shown` is the window or ban of the `X-RateLimit` headers. */
export type Said = {
  readonly kind: string;
  readonly quota: readonly View[];
  readonly window?: View | undefined;
  readonly ban?: Ban | undefined;
  readonly strikes?: number | null;
  readonly waitMs: number | null;
};

const DAY_MS = 86_400_000;

export function limitsOf({ limits, later }: Policy, now: number) {
  return later && later.fromMs <= now ? later.limits : limits;
}

export function viewsOf({ windows }: Model, policy: Policy, now: number): readonly View[] {
  return limitsOf(policy, now).map(({ name, requests, amount, unit = "requests", seconds }) => {
    const limit = requests ?? amount;
    const counted = windows.filter((each) => each.unit === unit && each.seconds === seconds);
    const startMs = Math.max(startOf(seconds, now), ...counted.map((each) => each.startMs));
    const used = counted.find((each) => each.startMs === startMs)?.used ?? 0;
    const remaining = used > limit ? 0 : limit - used;
    return { name, limit, unit, seconds, startMs, used, remaining, endsAtMs: endOf({ seconds, startMs }) };
  });
}

/** The ban or block that refuses a request now, whichever ends last. */
export function banOf({ lastBan, block }: Model, policy: Policy, now: number): Ban | undefined {
  const own = lastBan && lastBan.id !== policy.pardonedBan ? { ...lastBan, reason: null } : null;
  return [policy.blocked, block, own]
    .flatMap((each) => (each ? [{ id: null, ...each }] : []))
    .filter(({ endsAtMs }) => endsAtMs > now)
    .reduce<Ban | undefined>((a, b) => (a && a.endsAtMs >= b.endsAtMs ? a : b), undefined);
}

export function strikesOf({ refused }: Model, now: number): readonly number[] {
  return refused && now < refused.endsAtMs ? recent(refused.strikes, now) : [];
}

export function ask(
  before: Model,
  policy: Policy | null,
  call: LimiterCall,
  key: string,
  now: number,
): { readonly said: Said; readonly model: Model } {
  const unknown = reasonAgainst(policy, call.credential, now);
  if (policy === null || unknown !== undefined)
    return { said: { kind: unknown ?? "no_such_key", quota: [], waitMs: null }, model: before };
  const isPardoned = before.lastBan !== null && before.lastBan.id === policy.pardonedBan;
  const model = isPardoned ? { ...before, lastBan: null, refused: null } : before;
  const quota = viewsOf(model, policy, now);
  const full = quota.filter((each) => costOf(call, each) > 0 && each.used + costOf(call, each) > each.limit);
  const never = full.filter((each) => costOf(call, each) > each.limit);
  const last = (never.length > 0 ? never : full).reduce<View | undefined>(
    (a, b) =>
      a && (a.endsAtMs > b.endsAtMs || (a.endsAtMs === b.endsAtMs && a.startMs <= b.startMs)) ? a : b,
    undefined,
  );
  const waitUntil = (atMs: number) => (never.length > 0 ? null : atMs - now);
  const bannedBy = (ban: Ban): Said => {
    const waitMs = waitUntil(Math.max(ban.endsAtMs, last?.endsAtMs ?? 0));
    return { kind: "banned", quota, ban, window: last, waitMs };
  };
  const ban = banOf(model, policy, now);
  if (ban) return { said: bannedBy(ban), model };
  if (last === undefined) return admit(model, quota, call, now);
  if (quota.some((each) => each.limit !== 0 && costOf(call, each) > each.limit))
    return { said: { kind: "too_costly", quota, waitMs: null }, model };
  const after = policy.bans ? refuse(model, policy.bans, last.endsAtMs, key, now) : model;
  const begun = banOf(after, policy, now);
  if (begun) return { said: bannedBy(begun), model: after };
  const strikes = policy.bans ? strikesOf(after, now).length : null;
  return {
    said: { kind: "limited", quota, window: last, strikes, waitMs: waitUntil(last.endsAtMs) },
    model: after,
  };
}

/** What a request costs in a window: nothing, unless its unit is named, and one request, unless it is. */
export function costOf({ cost = 1 }: Pick<LimiterCall, "cost">, { unit }: Window): number {
  if (typeof cost === "number") return unit === "requests" ? cost : 0;
  return cost[unit] ?? (unit === "requests" ? 1 : 0);
}

function admit(model: Model, quota: readonly View[], call: LimiterCall, now: number) {
  const { settleId: id } = call;
  const isOver = (window: Window) => endOf(window) <= now;
  const views = quota.map((each) => {
    const used = each.used + costOf(call, each);
    return { ...each, used, remaining: Math.max(0, each.limit - used) };
  });
  const counted = views.map((view) => {
    const { unit, seconds, startMs, used } = view;
    return { unit, seconds, startMs, used, mayLose: mayLoseOf(view, views, call) };
  });
  const others = model.windows.filter(
    (each) =>
      !isOver(each) && !views.some(({ unit, seconds }) => unit === each.unit && seconds === each.seconds),
  );
  const windows = counted.map((each) => {
    const { unit, seconds, startMs } = each;
    return { unit, seconds, startMs, used: costOf(call, each) };
  });
  const stays = model.open.filter((each) => !each.windows.every(isOver));
  const opened = id === undefined ? [] : [{ id, windows }];
  return {
    said: { kind: "admitted", quota: views, waitMs: null },
    model: {
      ...model,
      windows: [...counted, ...others],
      // Of a thousand requests without a cost the oldest are forgotten, and stay counted.
      open: [...stays, ...opened].slice(-1_000),
    },
  };
}

/** Nothing if the limit of the shortest window that counts the request is low. */
function mayLoseOf({ limit, remaining }: View, views: readonly View[], call: LimiterCall): number {
  const lengthOf = ({ startMs, endsAtMs }: View) => endsAtMs - startMs;
  const counting = views.filter((each) => costOf(call, each) > 0);
  const shortestMs = Math.min(...counting.map(lengthOf));
  const isExact = counting.some((each) => each.limit < 300 && lengthOf(each) === shortestMs);
  return isExact ? 0 : Math.min(1_000, limit / 10, remaining / 2);
}

export function settle(model: Model, id: string, cost: NonNullable<LimiterCall["cost"]>): Model {
  const open = model.open.filter((each) => each.id !== id);
  const costs: Readonly<Record<string, number | undefined>> =
    typeof cost === "number" ? { requests: cost } : cost;
  // A call that was repeated has reserved twice, and costs once.
  const mine = model.open
    .filter((each) => each.id === id)
    .map((each, i) => {
      const final = each.windows.map((window) => ({
        ...window,
        used: i === 0 ? (costs[window.unit] ?? window.used) : 0,
      }));
      return { ...each, final };
    });
  const windows = mine.reduce(
    (all, each) => moved(moved(all, each.final, 1), each.windows, -1),
    model.windows,
  );
  return { ...model, windows, open, settled: [...model.settled, ...mine] };
}

/** Adds to those of the windows that are still the newest of their kind. */
function moved(all: readonly Counted[], windows: readonly Used[], sign: 1 | -1): readonly Counted[] {
  return all.map((each) => {
    const by = windows.find((window) => isSame(window, each))?.used ?? 0;
    return { ...each, used: each.used + sign * by };
  });
}

/** What is known after a crash, if a row with these open requests was stored: their settlements are undone. */
export function undone(model: Model, ids: readonly string[]): Model {
  const lost = model.settled.filter(({ id }) => ids.includes(id));
  const windows = lost.reduce(
    (all, each) => moved(moved(all, each.windows, 1), each.final, -1),
    model.windows,
  );
  const open = [...model.open, ...lost].toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
  return { ...model, windows, open, settled: lost };
}

export function isSame(a: Window, b: Window): boolean {
  return a.unit === b.unit && a.seconds === b.seconds && a.startMs === b.startMs;
}

function reasonAgainst(policy: Policy | null, hash: string | undefined, now: number): string | undefined {
  if (policy === null) return "no_such_key";
  const credential = policy.credentials?.find((each) => each.hash === hash);
  if (policy.credentials && !credential) return "wrong_credential";
  if (credential && (credential.expiresAtMs ?? now + 1) <= now) return "expired_credential";
  return policy.refused;
}

function refuse(
  model: Model,
  { strikes: toBan = 20, firstSeconds = 300 }: NonNullable<Policy["bans"]>,
  endsAtMs: number,
  key: string,
  now: number,
): Model {
  const { refused, lastBan } = model;
  if (refused === null || refused.endsAtMs !== endsAtMs)
    return { ...model, refused: { endsAtMs, firstRefusalAtMs: now, strikes: [] } };
  const second = Math.floor(now / 1000);
  const isOnItsWay = now < refused.firstRefusalAtMs + 2_000 || now > endsAtMs - 1_000;
  if (isOnItsWay || refused.strikes.some((each) => each >= second)) return model;
  const strikes = [...recent(refused.strikes, now), second];
  if (strikes.length < toBan) return { ...model, refused: { ...refused, strikes } };
  const isSoon = lastBan !== null && now < lastBan.endsAtMs + DAY_MS;
  const doubled = isSoon ? Math.min(lastBan.lengthMs * 2, DAY_MS) : 0;
  const lengthMs = Math.max(firstSeconds * 1000, doubled);
  const ban = { id: `ban_${key}_${now}`, lengthMs, endsAtMs: Math.ceil((now + lengthMs) / 1000) * 1000 };
  return { ...model, refused: null, lastBan: ban };
}

function recent(strikes: readonly number[], now: number): readonly number[] {
  return strikes.filter((second) => second + 600 > Math.floor(now / 1000));
}

const MONDAY = Date.UTC(1970, 0, 5);

function startOf(seconds: WindowLength, now: number): number {
  const at = new Date(now);
  if (seconds === "month") return Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
  const from = seconds === 604_800 ? MONDAY : 0;
  return now - ((((now - from) % (seconds * 1000)) + seconds * 1000) % (seconds * 1000));
}

/** The first millisecond of the next window. */
export function endOf({ seconds, startMs }: Omit<Window, "unit">): number {
  const at = new Date(startMs);
  if (seconds === "month") return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
  return startMs + seconds * 1000;
}

/** The headers of an answer, as docs and drafts say them. */
export function headersOf({ kind, quota, window, ban, waitMs }: Said, now: number): Record<string, string> {
  const lengthOf = ({ startMs, endsAtMs }: View) => endsAtMs - startMs;
  const binds = (a: View, b: View) => a.remaining - b.remaining || lengthOf(b) - lengthOf(a);
  // The triple is of one unit.
  const alike = quota.filter(({ unit }) => unit === quota[0]?.unit);
  const smallest = alike.toSorted((a, b) => lengthOf(a) - lengthOf(b))[0];
  const outlasts = window && (!ban || window.endsAtMs > ban.endsAtMs);
  const shown = outlasts ? window : ban ? { ...smallest, ...ban, remaining: 0 } : alike.toSorted(binds)[0];
  const until = (atMs: number) => Math.max(1, Math.ceil((atMs - now) / 1000));
  const reset = Math.ceil((shown?.endsAtMs ?? 0) / 1000);
  const wait = until(reset * 1000);
  const item = ({ name, remaining, endsAtMs }: View) =>
    ban ? `"${name}";r=0;t=${wait}` : `"${name}";r=${remaining};t=${until(endsAtMs)}`;
  return {
    "X-RateLimit-Limit": `${shown?.limit}`,
    "X-RateLimit-Remaining": `${shown?.remaining}`,
    "X-RateLimit-Reset": `${reset}`,
    "RateLimit-Policy": quota
      .map((each) => {
        const unit = each.unit === "requests" ? "" : `qu="${each.unit}";`;
        return `"${each.name}";q=${each.limit};${unit}w=${lengthOf(each) / 1000}`;
      })
      .join(", "),
    RateLimit: quota.map(item).join(", "),
    ...((kind === "limited" || kind === "banned") &&
      waitMs !== null && { "Retry-After": `${Math.min(wait, 2_147_483)}` }),
  };
}
