/** The sentence about each change, by the id of its call. Pure: the command says it too. */
import { counted, formatNumber, formatRelative, formatTime } from "../text/format.ts";
import { differences, listOf, type Members, membersOf, memberText, type Says, textOf } from "../text/says.ts";

/** What a key may do, by its `mayCancel`. */
export const RIGHTS = { true: "may list and cancel orders", false: "may only list orders" };

/** The reason of a ban that no operator has set. */
export const STRIKES_REASON = "requests went on after the limit was used up";

const FIGURES = ["inserted", "updated", "unchanged", "cancelled", "kept"] as const;

export const SAYS = {
  "keys.create": (_, { plan, limits, mayCancel }) =>
    `is created on plan ${memberText("plan", plan)}${limitsIn(membersOf(limits))}${mayCancel === false ? `, and ${RIGHTS.false}` : ""}`,
  "keys.update": (before, { status, mayCancel, nextPlan = null, ...members }) => {
    const was = nextPlan === null && "nextPlan" in before ? before.nextPlan : null;
    const { plan, ...rest } = members;
    const others = was !== null && plan === before.plan ? rest : members;
    return [
      ...(status === undefined ? [] : [status === "active" ? "is enabled" : `is ${textOf(status)}`]),
      ...(mayCancel === undefined ? [] : [mayCancel === true ? RIGHTS.true : RIGHTS.false]),
      ...(nextPlan === null ? [] : [`gets plan ${memberText("nextPlan", nextPlan)} on`]),
      ...(was === null ? [] : [`does not get plan ${memberText("nextPlan", was)} on`]),
      ...(Object.keys(others).length === 0 ? [] : [`is changed: ${differences(before, others)}`]),
    ].join(", and ");
  },
  "keys.limit_temporarily": (_, { until, reason, ...limits }) =>
    `has temporary limits until ${textOf(until)}: ${listOf([...Object.entries(limits), ["reason", reason]])}`,
  "keys.end_temporary_limits": () => "has its permanent limits again",
  "keys.rotate": (_, { oldSecretsExpireAt }) =>
    `has a new secret; old secrets end ${textOf(oldSecretsExpireAt)}`,
  "keys.retire": ({ hint }) => `has the secret ${textOf(hint)} no longer`,
  "keys.revoke": () => "is revoked",
  /** Entries before version 2.3. */
  "keys.refresh": () => "is refreshed",
  "keys.refresh_all": () => "are refreshed",

  "bans.set": ({ endsAt: end }, { endsAt, reason }) => {
    const replaced = end === undefined ? "" : `, in place of a ban until ${textOf(end)}`;
    return `is banned until ${textOf(endsAt)}${replaced}: ${textOf(reason)}`;
  },
  "bans.lift": ({ endsAt }) =>
    endsAt === undefined
      ? "is not banned"
      : `is no longer banned; the ban would have ended on ${textOf(endsAt)}`,

  "customers.create": () => "is created",
  "customers.update": (before, after) => `is changed: ${differences(before, after)}`,
  "customers.merge": (_, { into }) => `is merged into ${textOf(into)}, which has its keys and its use now`,
  "customers.erase": () =>
    "is erased: its name, e-mail address and note are gone, and so are those of its keys",

  // An entry before version 2.3 has the name of an owner.
  "links.create": (_, { customer, owner, endsAt }) =>
    `is made for ${textOf(customer ?? owner)}, until ${textOf(endsAt)}`,
  "links.revoke": ({ customer, owner }) => `is revoked; it was made for ${textOf(customer ?? owner)}`,

  "sessions.end": ({ operator }) =>
    `is ended, which signs out ${textOf(operator ?? "somebody without a name")}`,

  "plans.update": (before, after) => `is changed: ${differences(before, after)}`,

  "orders.update": (before, after) => `is changed: ${differences(before, after)}`,
  "orders.ship": () => "is shipped",
  "orders.delete": ({ status }) => `is deleted; its status was ${textOf(status)}`,
  "orders.load": (_, { file, ...after }) => {
    const figures = FIGURES.map((name) => [Number(after[name] ?? 0), name] as const);
    const counts = figures.flatMap(([count, name]) => (count > 0 ? `${formatNumber(count)} ${name}` : []));
    const from = typeof file === "string" ? ` from ${file}` : "";
    return `are loaded${from}: ${counts.join(", ") || "none"}`;
  },

  /** The answer has the figures in `load`, and the entry has them by themselves. */
  "audit.undo": (_, { left, waiting, load, ...entry }) => {
    const { restored, removed, changed } = { ...entry, ...membersOf(load) };
    const ids = Array.isArray(left) && left.length > 0 ? ` (${left.join(", ")})` : "";
    const figures = [
      [removed, "deleted"],
      [changed, `left as they are now${ids}`],
      [waiting, "still loaded: undo again"],
    ].flatMap(([count, does]) => (Number(count) > 0 ? `${formatNumber(Number(count))} ${does}` : []));
    return `is undone: ${[`${counted(Number(restored), "order")} as before`, ...figures].join(", ")}`;
  },
} as const satisfies Readonly<Record<string, Says>>;

/** The audit log's name of each change. */
export type AuditCall = keyof typeof SAYS;
export const AUDIT_CALLS: readonly string[] = Object.keys(SAYS);

type Change = {
  readonly call: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** The names of customers by their ids. */
  readonly names?: Readonly<Record<string, string>>;
};

/** Returns the sentence about the change of an audit entry, without its subject. */
export function saysOf({ call, before, after, names = {} }: Change): string {
  return (
    (SAYS as Readonly<Record<string, Says>>)[call]?.(withNames(before, names), withNames(after, names)) ??
    call
  );
}

/** The audit log has the ids of customers. People read the names. */
export function withNames(value: unknown, names: NonNullable<Change["names"]>): Members {
  const nameOf = (customer: unknown) => (typeof customer === "string" ? (names[customer] ?? customer) : null);
  const members = Object.entries(membersOf(value));
  return Object.fromEntries(
    members.map(([name, each]) => [name, name === "customer" || name === "into" ? nameOf(each) : each]),
  );
}

type Secret = Readonly<Record<"id" | "hint", string> & Record<"expiresAt" | "lastUsedAt", string | null>>;
type Ending = { readonly expiresAt: string | null; readonly secrets: readonly Secret[] };

/** Returns when the last of the old secrets ends. A new secret has no end. */
export function lastEndOf(secrets: readonly Pick<Secret, "expiresAt">[]): string | undefined {
  return secrets
    .flatMap(({ expiresAt }) => expiresAt ?? [])
    .sort()
    .at(-1);
}

/** Returns when no secret works any more. Undefined: a secret has no end. */
function endOfAll(secrets: readonly Secret[]): string | undefined {
  return secrets.some(({ expiresAt }) => expiresAt === null) ? undefined : lastEndOf(secrets);
}

/** How a key ends by itself, and what helps. */
export function endOfKey({ expiresAt, secrets }: Ending) {
  const end = endOfAll(secrets);
  if (end !== undefined && (expiresAt === null || end < expiresAt))
    return { end, says: "has no secret without an end, and that of the last one is", remedy: "rotate" };
  return expiresAt === null ? undefined : { end: expiresAt, says: "expires", remedy: "edit" };
}

export function validOf(secrets: readonly Secret[], nowMs: number): Secret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > nowMs);
}

/** `last used 2 min ago`: the minute is known. */
export function lastUseOf({ lastUsedAt }: Secret, nowMs: number): string {
  if (lastUsedAt === null) return "no use known";
  const minuteMs = nowMs - (nowMs % 60_000);
  if (Date.parse(lastUsedAt) >= minuteMs) return "used in this minute";
  return `last used ${formatRelative(lastUsedAt, minuteMs)}`;
}

/** `sok_ab…yhjA (last used 2 min ago)` */
export function secretInWords(secret: Secret, nowMs: number): string {
  return `${secret.hint} (${lastUseOf(secret, nowMs)})`;
}

/** What it means to end this secret. Without an id: all, beside a new one. */
export function saysOfEnding(secrets: readonly Secret[], nowMs: number, id?: string): string[] {
  const valid = validOf(secrets, nowMs);
  const ending = valid.filter((secret) => id === undefined || secret.id === id);
  if (ending.length === 0) return [];
  const named = ending.map((secret) => secretInWords(secret, nowMs));
  const says = `Requests with ${named.join(", ")} are a 401 from now on.`;
  const end = id && endOfAll(valid.filter((secret) => secret.id !== id));
  if (!end) return [says];
  return [says, `No secret without an end is left: all requests are a 401 from ${formatTime(end)} on.`];
}

/** The answer has the limits in force, and the audit log has only the limits of its own that a key has. */
function limitsIn({ requestsPerMinute, requestsPerDay }: Members): string {
  if (requestsPerMinute === undefined || requestsPerDay === undefined) return "";
  const [minute, day] = [requestsPerMinute, requestsPerDay].map((limit) => formatNumber(Number(limit)));
  return `, with ${minute} requests a minute and ${day} a day`;
}

type Shipped = {
  readonly shipped: readonly string[];
  readonly unchanged: readonly { readonly id: string; readonly status: string }[];
};

/** What `orders.ship` did. */
export function shippedSays({ shipped, unchanged }: Shipped): string {
  const others = unchanged.map(({ id, status }) => ` Order ${id} was ${status} before.`);
  return `${counted(shipped.length, "order")} shipped.${others.join("")}`;
}

export function missingSays(ids: readonly string[]): string {
  return `No order has these ids: ${ids.join(", ")}. Such an order was cancelled or deleted, or was never stored.`;
}
