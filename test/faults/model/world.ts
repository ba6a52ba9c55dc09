/** The service under test beside the model of it: keys, orders, audit rows and the clock of one run. */
import { randomBytes } from "node:crypto";
import { mintKey } from "../../../src/worker/auth/key-format.ts";
import { type FaultService, insertKey, type SqlRow } from "../service.ts";
import type { ReportFault, RunAlarm } from "../worker/control.ts";
import { LimiterModel, type Limits, Mismatch, type Policy } from "./limiter-model.ts";
import { ORDER_IDS, OrderModel } from "./order-model.ts";
import type { Tally } from "./tally.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const DAY = 86_400 * SECOND;

export const PLAN_LIMITS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
} as const;
export type PlanId = keyof typeof PLAN_LIMITS | "enterprise";

export type KeyModel = {
  readonly id: string;
  plan: PlanId;
  perMinute: number | null;
  perDay: number | null;
  status: "active" | "disabled" | "revoked";
  expiresAtMs: number | null;
  readonly secrets: { readonly key: string; expiresAtMs: number | null }[];
  operatorBan: { readonly endsAtMs: number } | null;
  lifted: Policy["lifted"];
  forgiven: Policy["forgiven"];
  isUsed: boolean;
  readonly limiter: LimiterModel;
};

/** What holds during all of a run. */
export type Conditions = {
  /** How far the clock of each isolate is ahead of the limiters'. The first isolate has the limiters, and their clock. */
  readonly skewsMs: readonly number[];
};

/** Alarms that run while the clock moves. D1 may be down for days, with an alarm each minute: later ones are late. */
const MAX_ALARMS_PER_MOVE = 12;

/** The second run's storage begins later than everything that the first run has stored. */
let runs = 0;
let lastNowMs = Math.ceil(Date.now() / DAY) * DAY + 30 * DAY;

export class World {
  readonly service: FaultService;
  readonly tally: Tally;
  readonly #conditions: Conditions;
  readonly keys: KeyModel[] = [];
  readonly orders = new OrderModel();
  readonly plans: Record<string, Limits> = { ...PLAN_LIMITS };
  /** The rows that the changes so far have written: the call and its object. */
  readonly audit: string[] = [];
  #auditSeen = 0;
  #auditFrom = 0;
  #nowMs: number;
  reports: ReportFault = "none";
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

  clockOf(isolate: number): number {
    return this.#nowMs + this.skewOf(isolate);
  }

  /** Deletes what an earlier run left, and makes a key of each kind. */
  async begin(): Promise<void> {
    const tables = ["key_secrets", "api_keys", "bans", "daily_usage", "usage_totals"];
    const orderTables = ["orders", "cancelled_orders", "order_imports"];
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
    await this.#insertKey("pro", null, null);
    await this.#insertKey("enterprise", 4, 9);
    await this.#insertKey("enterprise", 400, 700);
  }

  async #insertKey(plan: PlanId, perMinute: number | null, perDay: number | null): Promise<void> {
    const id = `key_${this.number}_${this.keys.length}`;
    const key = mintKey((count) => randomBytes(count));
    await this.service.sql(...insertKey({ id, key, plan, perMinute, perDay }));
    this.addKey(id, key, plan, perMinute, perDay);
  }

  addKey(id: string, key: string, plan: PlanId, perMinute: number | null, perDay: number | null): void {
    this.keys.push({
      ...{ id, plan, perMinute, perDay, status: "active", expiresAtMs: null },
      ...{ operatorBan: null, lifted: null, forgiven: null, isUsed: false },
      secrets: [{ key, expiresAtMs: null }],
      limiter: new LimiterModel(),
    });
  }

  limitsOf(key: KeyModel): Limits {
    const plan = this.plans[key.plan];
    return { perMinute: key.perMinute ?? plan?.perMinute ?? 0, perDay: key.perDay ?? plan?.perDay ?? 0 };
  }

  policyOf(key: KeyModel): Policy {
    const { operatorBan, lifted, forgiven } = key;
    return {
      limits: this.limitsOf(key),
      operatorBanEndsAtMs: operatorBan?.endsAtMs ?? null,
      lifted,
      forgiven,
    };
  }

  /** By the clock of the isolate. */
  isUsable(key: KeyModel, secret: KeyModel["secrets"][number], isolate: number): boolean {
    const ends = [key.expiresAtMs, secret.expiresAtMs].filter((end) => end !== null);
    return key.status === "active" && ends.every((end) => this.clockOf(isolate) < end);
  }

  /** Moves the clock, and runs the alarms that are due. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    const used = this.keys.filter(({ isUsed }) => isUsed);
    if (ms >= MINUTE && used.length > 0) {
      const ids = used.map(({ id }) => id);
      const body = {
        nowMs: this.#nowMs,
        untilMs,
        ids,
        reports: this.reports,
        maxAlarms: MAX_ALARMS_PER_MOVE,
      };
      // The control's answer.
      for (const ran of (await this.service.control("alarms", body)) as RunAlarm[])
        await this.#checkForgotten(ran);
    }
    this.#nowMs = untilMs;
    lastNowMs = Math.max(lastNowMs, untilMs);
  }

  /** Destroys the key's object: what it has not stored is lost. */
  async crash({ id, isUsed, limiter }: KeyModel): Promise<void> {
    if (!isUsed) return;
    await this.service.control("crash", { id });
    limiter.crash(this.#nowMs);
  }

  async #checkForgotten({ id, atMs, isForgotten }: RunAlarm): Promise<void> {
    const key = this.keys.find((each) => each.id === id);
    if (!key || !isForgotten) return;
    if (!key.limiter.mayBeForgotten(atMs)) {
      throw new Mismatch(
        `the limiter was forgotten at ${atMs}: ${key.limiter.describe(this.policyOf(key), atMs)}`,
      );
    }
    await this.checkUsage([key]);
  }

  /** After two days without faults everything is reported and nothing has been lost. */
  async end(): Promise<void> {
    this.reports = "none";
    for (let hours = 0; hours < 3; hours++) await this.advance(DAY);
    await this.checkUsage(this.keys);
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
      "select id, plan, requests_per_minute, requests_per_day, status from api_keys where id in (select value from json_each(?))",
      ids,
    ]);
    const stored = new Map((rows ?? []).map((row) => [String(row.id), row]));
    for (const { id, plan, perMinute, perDay, status } of this.keys) {
      const expected = { id, plan, requests_per_minute: perMinute, requests_per_day: perDay, status };
      const got = stored.get(id);
      if (JSON.stringify(got) !== JSON.stringify(expected)) {
        throw new Mismatch(`the key is ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`);
      }
    }
  }

  /** Which bans the key's record lifts and forgives, by their ids. */
  async readOverrides(key: KeyModel): Promise<void> {
    const [rows] = await this.service.sql([
      "select lifted_ban_id, forgiven_ban_id from api_keys where id = ?",
      key.id,
    ]);
    const banOf = (id: unknown) =>
      key.limiter.bans.find(({ startedAtMs }) => id === `ban_${key.id}_${startedAtMs}`) ?? null;
    key.lifted = banOf(rows?.[0]?.lifted_ban_id);
    key.forgiven = banOf(rows?.[0]?.forgiven_ban_id);
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

  /** Once everything is reported, D1 has each day's figures. */
  async checkUsage(keys: readonly KeyModel[]): Promise<void> {
    for (const key of keys) {
      const [rows] = await this.service.sql(["select * from daily_usage where key_id = ?", key.id]);
      const stored = new Map((rows ?? []).map((row) => [String(row.day), row]));
      for (const [day, { admitted, refused, banned }] of key.limiter.usage) {
        const row = stored.get(day);
        const figures = [row?.admitted ?? 0, row?.refused ?? 0, row?.refused_while_banned ?? 0].map(Number);
        [admitted, refused, banned].forEach(({ lo, hi }, i) => {
          const figure = figures[i] ?? 0;
          if (figure >= lo && figure <= hi) return;
          const name = ["admitted", "refused", "refused while banned"][i];
          throw new Mismatch(`D1 has ${figure} ${name} requests of ${key.id} on ${day}, not ${lo} to ${hi}`);
        });
        if (row) checkHours(row);
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

/** A day's hours add up to the day. Refusals that were lost between a report and its acknowledgement can make an hour higher (ADR-22). */
function checkHours(row: SqlRow): void {
  const hours: number[][] = JSON.parse(String(row.hours)); // [hour, admitted, refused, refused while banned]
  const [admitted = 0, refused = 0, banned = 0] = [1, 2, 3].map((figure) =>
    hours.reduce((sum, hour) => sum + (hour[figure] ?? 0), 0),
  );
  if (
    admitted !== row.admitted ||
    refused < Number(row.refused) ||
    banned < Number(row.refused_while_banned)
  ) {
    throw new Mismatch(`the hours do not add up to the day: ${JSON.stringify(row)}`);
  }
}

function orderOf(row: SqlRow) {
  const complete = row.complete === null ? null : row.complete === 1;
  const { pet_id: petId, quantity, ship_date: shipDate, status } = row;
  return { petId, quantity, shipDate, complete, status };
}
