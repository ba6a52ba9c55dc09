/**
 * A store with 40 keys of 10 customers, two months of usage, bans, changes of yesterday, and today's traffic. An
 * operator has questions about it. SQL writes what lies in the past or takes long, and the service the rest.
 */
import { demoMonth } from "../../src/tools/demo-month.ts";
import { ADMIN_TOKEN, LIST, type Service } from "./service.ts";

const DAY_SECONDS = 86_400;
const PLANS = ["free", "pro", "business", "enterprise"] as const;
const DAY_LIMITS = { free: 1_000, pro: 10_000, business: 100_000, enterprise: 1_000_000 };

export const CUSTOMERS = [
  ...["Paws & Co", "Hammer GmbH", "Quiet Pets", "Kitty Kafe", "Feather Friends"],
  ...["Aqua World", "Reptile Room", "Happy Tails", "Bird & Bee", "Pony Post"],
];
/** Its Pro key uses 85 % of its day or more on most days. */
export const NEAR_CUSTOMER = "Paws & Co";
/** Its Free keys were banned for going on after refusals, and admitted little. */
export const BANNED_CUSTOMER = "Hammer GmbH";

type Store = {
  /** An answer of the admin API; `operator` is in the audit log. */
  readonly admin: (method: string, path: string, body?: object, operator?: string) => Promise<unknown>;
  readonly nowMs: number;
};

export type BusyKey = {
  readonly id: string;
  readonly key: string;
  /** The name. */
  readonly customer: string;
  readonly customerId: string;
  readonly plan: string;
};

export async function makeBusyDay({ call, db }: Pick<Service, "call" | "db">) {
  const admin: Store["admin"] = async (method, path, body, operator = "mona") => {
    const init = { method, headers: { "X-Operator": operator }, ...(body && { body: JSON.stringify(body) }) };
    const response = await call(ADMIN_TOKEN, `/admin${path}`, init);
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.json();
  };
  const list = async (secret: string) => (await call(secret, LIST)).status;
  const nowMs = Date.now();
  const keys = await makeKeys({ admin, nowMs });
  const past = [...pastUsage(keys, nowMs), ...bansOf(keys, nowMs), ...yesterday(keys, nowMs)];
  await db.batch(past.map((statement) => db.prepare(statement)));
  const banned = keyOf(keys, BANNED_CUSTOMER, "free");
  while ((await list(banned.key)) !== 429);
  const lifted = keyOf(keys, "Quiet Pets", "business");
  const ban = { seconds: 3_600, reason: "key in a public repository" };
  await admin("PUT", `/keys/${lifted.id}/ban`, ban, "mona");
  await admin("DELETE", `/keys/${lifted.id}/ban`, undefined, "omar");
  for (const { key } of keys) await list(key);
  return { keys, near: keyOf(keys, NEAR_CUSTOMER, "pro"), banned, lifted };
}

function keyOf(keys: readonly BusyKey[], customer: string, plan: string): BusyKey {
  const key = keys.find((each) => each.customer === customer && each.plan === plan);
  if (!key) throw new Error(`${customer} has no ${plan} key`);
  return key;
}

async function makeKeys({ admin, nowMs }: Store): Promise<BusyKey[]> {
  const keys: BusyKey[] = [];
  for (const [i, customer] of CUSTOMERS.entries()) {
    const made = await admin("POST", "/customers", { name: customer, email: `ops${i}@customer.example` });
    const { id: customerId } = made as { id: string }; // the answer to a created customer
    for (const [j, plan] of PLANS.entries()) {
      const limits =
        plan === "enterprise" ? { requestsPerMinute: 2_000, requestsPerDay: DAY_LIMITS.enterprise } : {};
      const expiresAt =
        i < 3 && plan === "pro" ? new Date(nowMs + (7 + 10 * i) * DAY_SECONDS * 1000).toISOString() : null;
      const name = `${customer.toLowerCase().replace(/\W+/g, "-")} ${plan}`;
      const body = { name, plan, ...limits, customer, expiresAt };
      // The answer to a created key.
      const { id, key } = (await admin("POST", "/keys", body, j % 2 === 0 ? "mona" : "omar")) as BusyKey;
      keys.push({ id, key, customer, customerId, plan });
    }
  }
  return keys;
}

/** Two months, in which customers use their keys differently. */
function pastUsage(keys: readonly BusyKey[], nowMs: number): string[] {
  const uses = ["shop", "nightly", "hobby"] as const;
  return demoMonth(
    keys.map((key, i) => {
      const requestsPerDay = DAY_LIMITS[key.plan as keyof typeof DAY_LIMITS]; // a plan of this file
      const limits = { requestsPerMinute: requestsPerDay / 10, requestsPerDay };
      const isHammer = key.customer === BANNED_CUSTOMER && key.plan === "free";
      const isNear = key.customer === NEAR_CUSTOMER && key.plan === "pro";
      const other = uses[(i + Math.floor(i / 4)) % 3] ?? "shop";
      return {
        ...key,
        customer: { id: key.customerId },
        limits,
        use: isHammer ? "hobby" : isNear ? "grows" : other,
      };
    }),
    nowMs,
  );
}

/** One ban a day of the hammering key. Today's is live. */
function bansOf(keys: readonly BusyKey[], nowMs: number): string[] {
  const { id, customerId } = keyOf(keys, BANNED_CUSTOMER, "free");
  const now = Math.floor(nowMs / 1000);
  const rows = Array.from({ length: 21 }, (_, i) => {
    const startedAt = now - i * DAY_SECONDS;
    return `('ban_${id}_${startedAt}', '${id}', 'strikes', null, 20, ${startedAt}, ${startedAt + 300}, null, null, '${customerId}')`;
  });
  return [
    `insert into bans (id, key_id, cause, reason, strikes, started_at, ends_at, lifted_at, lifted_by, customer_id) values ${rows.join(",")}`,
  ];
}

/** Audit rows of changes that were made a day ago. */
function yesterday(keys: readonly BusyKey[], nowMs: number): string[] {
  const at = Math.floor(nowMs / 1000) - DAY_SECONDS;
  return keys
    .slice(0, 5)
    .map(
      ({ id }, i) =>
        `insert into audit_log (at, request_id, actor, call, object, before, after) values (${at + i}, 'yesterday-${i}', 'mona', 'keys.update', '${id}', '{"note":null}', '{"note":"called"}')`,
    );
}
