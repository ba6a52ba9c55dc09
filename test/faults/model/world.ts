/** The service under test beside the model of it: keys, orders, audit rows and the clock of one run. */
import { setTimeout as pause } from "node:timers/promises";
import { insertKey, mintKey } from "../../support/mint.ts";
import type { FaultService, SqlRow } from "../service.ts";
import type { PolicyFault, ReportFault } from "../worker/control.ts";
import { CustomerModel } from "./customer-model.ts";
import { LimiterModel, type Limits, Mismatch, type Policy } from "./limiter-model.ts";
import { ORDER_IDS, OrderModel } from "./order-model.ts";
import type { Tally } from "./tally.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const DAY = 86_400 * SECOND;

/** In real time: more than a second without a request, at IDLE_FLUSH_SPEED, as the machine may be busy. */
const PAUSE_MS = 400;

export const PLAN_LIMITS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
} as const;
export type PlanId = keyof typeof PLAN_LIMITS | "enterprise";

/** The customers of a run, whom keys name by their ids. */
export const CUSTOMERS = ["cus_Ada000000000", "cus_Bo0000000000"] as const;
type Customer = (typeof CUSTOMERS)[number];
export type CustomerId = Customer | null;

export type KeyModel = {
  readonly id: string;
  customer: CustomerId;
  /** Since when it was the key of whom, and who has the days of its use that D1 has. */
  readonly customers: { readonly id: CustomerId; readonly fromMs: number }[];
  readonly days: Map<number, unknown>;
  plan: PlanId;
  perMinute: number | null;
  perDay: number | null;
  status: "active" | "disabled" | "revoked";
  mayCancel: boolean;
  expiresAtMs: number | null;
  readonly secrets: { readonly key: string; expiresAtMs: number | null }[];
  operatorBan: { readonly endsAtMs: number } | null;
  pardoned: Policy["pardoned"];
  isUsed: boolean;
  /** The limiter has a policy that is not older; undefined: it may have none. */
  loadedAtMs: number | undefined;
  readonly limiter: LimiterModel;
};

/** What holds during all of a run. */
export type Conditions = {
  /** How far each isolate's clock is ahead of the limiters'. The first isolate has the limiters' clock. */
  readonly skewsMs: readonly number[];
};

/** Alarms that run while the clock moves. D1 may be down for days, with an alarm each minute. */
const MAX_ALARMS_PER_MOVE = 12;

/** The second run's storage begins later than everything that the first run has stored. */
let runs = 0;
let lastNowMs = Math.ceil(Date.now() / DAY) * DAY + 30 * DAY;

export class World {
  readonly service: FaultService;
  readonly tally: Tally;
  readonly #conditions: Conditions;
  readonly keys: KeyModel[] = [];
  readonly customers: Readonly<Record<Customer, CustomerModel>> = {
    cus_Ada000000000: new CustomerModel(),
    cus_Bo0000000000: new CustomerModel(),
  };
  readonly orders = new OrderModel();
  readonly plans: Record<string, Limits> = { ...PLAN_LIMITS };
  /** The rows that the changes so far have written: the call and its object. */
  readonly audit: string[] = [];
  #auditSeen = 0;
  #auditFrom = 0;
  #nowMs: number;
  reports: ReportFault = "none";
  policies: PolicyFault = "none";
  readonly number = ++runs;

  constructor(service: FaultService, tally: Tally, conditions: Conditions) {
    this.service = service;
    this.tally = tally;
    this.#conditions = conditions;
    // Every run begins at the same time of a day.
    this.#nowMs = (Math.floor(lastNowMs / DAY) + 2) * DAY + 12 * 60 * MINUTE + 250;
    lastNowMs = this.#nowMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  skewOf(isolate: number): number {
    return this.#conditions.skewsMs[isolate % this.service.urls.length] ?? 0;
  }

  /** Deletes what an earlier run left, and makes a key of each kind. */
  async begin(): Promise<void> {
    const tables = ["key_secrets", "api_keys", "customers", "outdated_keys", "bans", "usage"];
    const orderTables = ["orders", "cancelled_orders"];
    const rows = await this.service.sql(
      ["select coalesce(max(id), 0) as last from audit_log"],
      ...[...tables, ...orderTables].map((table) => [`delete from ${table}`] as const),
      ...Object.entries(PLAN_LIMITS).map(
        ([id, { perMinute, perDay }]) =>
          [
            "update plans set requests_per_minute = ?, requests_per_day = ? where id = ?",
            perMinute,
            perDay,
            id,
          ] as const,
      ),
    );
    for (const id of CUSTOMERS)
      await this.service.sql([
        "insert into customers (id, name, name_key, created_at) values (?1, ?1, ?1, 0)",
        id,
      ]);
    this.#auditFrom = Number(rows[0]?.[0]?.last);
    for (let isolate = 0; isolate < this.service.urls.length; isolate++) {
      await this.service.control("restart", { nowMs: this.#nowMs }, isolate);
    }
    for (const [i, id] of ORDER_IDS.entries()) {
      const order = {
        petId: i,
        quantity: null,
        shipDate: null,
        complete: null,
        status: i % 4 === 3 ? "shipped" : "pending",
      } as const;
      await this.service.sql([
        "insert into orders (id, pet_id, status) values (?, ?, ?)",
        id,
        i,
        order.status,
      ]);
      this.orders.set(id, order);
    }
    await this.#insertKey("free", null, null);
    await this.#insertKey("pro", null, null, "cus_Ada000000000");
    await this.#insertKey("enterprise", 4, 9, "cus_Ada000000000");
    await this.#insertKey("enterprise", 400, 700);
  }

  async #insertKey(
    plan: PlanId,
    perMinute: number | null,
    perDay: number | null,
    customer: CustomerId = null,
  ): Promise<void> {
    const key = await mintKey();
    await this.service.sql(...insertKey(key, { plan, perMinute, perDay }), [
      "update api_keys set customer_id = ? where id = ?",
      customer,
      key.id,
    ]);
    this.addKey(key.id, key.key, plan, perMinute, perDay, customer);
  }

  addKey(
    id: string,
    key: string,
    plan: PlanId,
    perMinute: number | null,
    perDay: number | null,
    customer: CustomerId = null,
  ): void {
    this.keys.push({
      ...{ id, plan, perMinute, perDay, status: "active", mayCancel: true, expiresAtMs: null },
      ...{ operatorBan: null, pardoned: null, isUsed: false, loadedAtMs: undefined },
      ...{ customer, customers: [{ id: customer, fromMs: 0 }], days: new Map() },
      secrets: [{ key, expiresAtMs: null }],
      limiter: new LimiterModel(),
    });
  }

  limitsOf(key: KeyModel): Limits {
    const plan = this.plans[key.plan];
    return { perMinute: key.perMinute ?? plan?.perMinute ?? 0, perDay: key.perDay ?? plan?.perDay ?? 0 };
  }

  /** The limiter of the key's customer, if it has a limit. */
  sharedOf({ customer }: KeyModel): CustomerModel | undefined {
    const shared = customer === null ? undefined : this.customers[customer];
    return shared?.isLimited ? shared : undefined;
  }

  policyOf(key: KeyModel): Policy {
    const { operatorBan, pardoned } = key;
    return { limits: this.limitsOf(key), operatorBanEndsAtMs: operatorBan?.endsAtMs ?? null, pardoned };
  }

  /** By the limiter's clock. */
  isUsable(key: KeyModel, secret: KeyModel["secrets"][number]): boolean {
    const ends = [key.expiresAtMs, secret.expiresAtMs].filter((end) => end !== null);
    return key.status === "active" && ends.every((end) => this.#nowMs < end);
  }

  /** Moves the clock, and runs the alarms that are due. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    const ids = this.keys.filter(({ isUsed }) => isUsed).map(({ id }) => id);
    if (ms >= MINUTE && ids.length > 0) {
      const { nowMs, reports } = this;
      await this.service.control("alarms", { nowMs, untilMs, ids, reports, maxAlarms: MAX_ALARMS_PER_MOVE });
    }
    this.#nowMs = untilMs;
    lastNowMs = Math.max(lastNowMs, untilMs);
  }

  /** Until the next run of the cron, which tells each limiter of what it was not told. */
  async nextMinute(): Promise<void> {
    await this.advance(MINUTE + SECOND);
    const outdated = await this.service.control("refresh", { nowMs: this.#nowMs });
    if (outdated !== 0) throw new Mismatch(`the cron leaves ${outdated} keys outdated`);
    this.forgetPolicies();
  }

  /** Destroys the key's object: what it has not stored is lost. */
  async crash(key: KeyModel): Promise<void> {
    if (!key.isUsed) return;
    await this.service.control("crash", { id: key.id });
    key.limiter.crash(this.#nowMs);
    key.loadedAtMs = undefined;
  }

  /** The same of a customer's limiter. */
  async crashCustomer(id: Customer): Promise<void> {
    const customer = this.customers[id];
    if (!customer.isUsed) return;
    await this.service.control("crash", { id });
    customer.crash();
  }

  /** Until bursts are over. */
  async pause(): Promise<void> {
    await pause(PAUSE_MS);
    for (const { limiter } of this.keys) limiter.pause();
    for (const customer of Object.values(this.customers)) customer.pause();
  }

  /** Which limiters may have no policy now. */
  forgetPolicies(): void {
    for (const key of this.keys) key.loadedAtMs = undefined;
  }

  /** After two days without faults everything is reported and nothing has been lost. */
  async end(): Promise<void> {
    this.reports = "none";
    this.policies = "none";
    await this.pause();
    for (let days = 0; days < 3; days++) await this.advance(DAY);
    await this.checkUsage(this.keys);
    for (const key of this.keys) await this.checkDays(key);
    await this.checkBans();
    await this.checkAudit();
    await this.checkOrders();
    await this.checkKeys();
  }

  /** New audit rows, which must be the ones that the model expects. */
  async checkAudit(): Promise<void> {
    const rows = await this.newAuditRows();
    const expected = this.audit.slice(this.#auditSeen);
    if (JSON.stringify(rows) !== JSON.stringify(expected)) {
      throw new Mismatch(`the audit log has ${JSON.stringify(rows)}, not ${JSON.stringify(expected)}`);
    }
    this.#auditSeen = this.audit.length;
  }

  async newAuditRows(): Promise<string[]> {
    const [rows] = await this.service.sql([
      "select call, object from audit_log where id > ? order by id limit -1 offset ?",
      this.#auditFrom,
      this.#auditSeen,
    ]);
    return (rows ?? []).map(({ call, object }) => `${call} ${object}`);
  }

  /** D1 has the keys of the model, and each key's secrets end when they should. */
  async checkKeys(): Promise<void> {
    const ids = JSON.stringify(this.keys.map(({ id }) => id));
    const [rows] = await this.service.sql([
      "select id, customer_id as customer, plan, requests_per_minute, requests_per_day, status, may_cancel from api_keys where id in (select value from json_each(?))",
      ids,
    ]);
    const stored = new Map((rows ?? []).map((row) => [String(row.id), row]));
    for (const { id, customer, plan, perMinute, perDay, status, mayCancel } of this.keys) {
      const limits = { requests_per_minute: perMinute, requests_per_day: perDay };
      const expected = { id, customer, plan, ...limits, status, may_cancel: Number(mayCancel) };
      const got = stored.get(id);
      if (JSON.stringify(got) !== JSON.stringify(expected)) {
        throw new Mismatch(`the key is ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`);
      }
    }
  }

  /** A day of use stays with the customer to whom its first report gave it: one who has had the key since it began. */
  async checkDays({ id, customers, days }: KeyModel): Promise<void> {
    const [rows] = await this.service.sql([
      "select day, customer_id as customer from usage where key_id = ?",
      id,
    ]);
    for (const { day, customer } of rows ?? []) {
      const start = Number(day) * SECOND;
      const mayBe = customers.filter(
        (_, i) => (customers[i + 1]?.fromMs ?? Number.POSITIVE_INFINITY) >= start,
      );
      if (!mayBe.some((each) => each.id === customer) || (days.has(start) && days.get(start) !== customer))
        throw new Mismatch(
          `the day ${day} of ${id} is of ${customer}, not of ${days.get(start)} or one of ${JSON.stringify(mayBe)}`,
        );
      days.set(start, customer);
    }
  }

  /** Which ban the key's row pardons. */
  async readPardon(key: KeyModel): Promise<void> {
    const [rows] = await this.service.sql([
      "select pardoned_ban_id as id from api_keys where id = ?",
      key.id,
    ]);
    key.pardoned =
      key.limiter.bans.find(({ startedAtMs }) => rows?.[0]?.id === `ban_${key.id}_${startedAtMs}`) ?? null;
  }

  /** D1 has exactly the orders of the model, and exactly its cancelled ones. */
  async checkOrders(): Promise<void> {
    const [rows, cancelled] = await this.service.sql(
      [
        "select cast(id as text) as id, pet_id, quantity, ship_date, complete, status from orders order by orders.id",
      ],
      ["select cast(order_id as text) as orderId, cancelled_by as keyId from cancelled_orders order by id"],
    );
    const stored = new Map((rows ?? []).map((row) => [String(row.id), orderOf(row)]));
    const differing = [...new Set([...stored.keys(), ...this.orders.orders.keys()])].filter((id) => {
      return JSON.stringify(stored.get(id)) !== JSON.stringify(this.orders.orders.get(id));
    });
    if (differing.length > 0) {
      const [id = ""] = differing;
      throw new Mismatch(
        `${differing.length} orders differ: ${id} is ${JSON.stringify(stored.get(id))}, not ${JSON.stringify(this.orders.orders.get(id))}`,
      );
    }
    if (JSON.stringify(cancelled) !== JSON.stringify(this.orders.cancelled)) {
      throw new Mismatch(
        `cancelled are ${JSON.stringify(cancelled)}, not ${JSON.stringify(this.orders.cancelled)}`,
      );
    }
  }

  /** Once everything is reported, D1 has each hour's figures. */
  async checkUsage(keys: readonly KeyModel[]): Promise<void> {
    for (const key of keys) {
      const [rows] = await this.service.sql(["select * from usage where key_id = ?", key.id]);
      const stored = new Map((rows ?? []).flatMap(hoursOf));
      for (const [hour, { admitted, refused, banned }] of key.limiter.usage) {
        const figures = stored.get(hour) ?? [];
        [admitted, refused, banned].forEach(({ lo, hi }, i) => {
          const figure = figures[i] ?? 0;
          if (figure >= lo && figure <= hi) return;
          const name = ["admitted", "refused", "refused while banned"][i];
          const at = new Date(hour).toISOString();
          throw new Mismatch(`D1 has ${figure} ${name} requests of ${key.id} at ${at}, not ${lo} to ${hi}`);
        });
      }
      for (const [hour, figures] of stored) {
        if (figures.some((each) => each > 0) && !key.limiter.usage.has(hour))
          throw new Mismatch(`D1 has usage of ${key.id} at ${hour}`);
      }
    }
  }

  /** Once everything is reported, D1 has each ban by the limiter, with the end that it had when it began. */
  async checkBans(): Promise<void> {
    for (const { id, limiter } of this.keys) {
      const [rows] = await this.service.sql([
        "select id, ends_at from bans where key_id = ? and cause = 'strikes' order by started_at",
        id,
      ]);
      const expected = limiter.bans.map(({ startedAtMs, lengthMs }) => ({
        id: `ban_${id}_${startedAtMs}`,
        ends_at: Math.ceil((startedAtMs + lengthMs) / 1_000),
      }));
      if (JSON.stringify(rows) !== JSON.stringify(expected)) {
        throw new Mismatch(`the bans are ${JSON.stringify(rows)}, not ${JSON.stringify(expected)}`);
      }
    }
  }
}

type StoredHour = number | [admitted: number, refused: number, banned: number, minutes: object];

/** The figures of each hour. They add up to the day's, and an hour's refusals are those of its minutes. */
function hoursOf(row: SqlRow): [hourMs: number, figures: number[]][] {
  // Written by the service.
  const stored = JSON.parse(String(row.hours)) as StoredHour[];
  const hours = stored.map((hour) => (typeof hour === "number" ? ([hour, 0, 0, {}] as const) : hour));
  for (const [, refused, banned, minutes] of hours) {
    const counts = Object.values(minutes).flatMap((by: Record<string, number>) => Object.entries(by));
    const sum = (isBan: boolean) =>
      counts.filter(([by]) => (by === "ban") === isBan).reduce((total, [, count]) => total + count, 0);
    if (sum(false) !== refused || sum(true) !== banned)
      throw new Mismatch(`the minutes do not add up to the hour: ${JSON.stringify(row)}`);
  }
  const sums = [0, 1, 2].map((i) => hours.reduce((total, hour) => total + Number(hour[i]), 0));
  if (String(sums) !== String([row.admitted, row.refused, row.refused_while_banned]))
    throw new Mismatch(`the hours do not add up to the day: ${JSON.stringify(row)}`);
  return hours.map(([admitted, refused, banned], i) => [
    (Number(row.day) + i * 3_600) * 1000,
    [admitted, refused, banned],
  ]);
}

function orderOf(row: SqlRow) {
  const complete = row.complete === null ? null : row.complete === 1;
  const { pet_id: petId, quantity, ship_date: shipDate, status } = row;
  return { petId, quantity, shipDate, complete, status };
}
