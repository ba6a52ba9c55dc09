/** Steps of operators: issue, change, disable, rotate, revoke and ban keys, lift bans, change plans. */
import fc from "fast-check";
import { type Answer, type Call, hasFailed, sendAsClient, sendAsOperator } from "../model/client.ts";
import { Mismatch } from "../model/limiter-model.ts";
import { CUSTOMERS, type KeyModel, type PlanId, SECOND, type World } from "../model/world.ts";
import type { Faults } from "../worker/control.ts";
import { anyKey, at, isolate, operatorFaults, type Step, step } from "./step.ts";

type Change = {
  /** The call that the audit row names. */
  readonly audit: string;
  /** The status without a fault. */
  readonly expected: number;
  /** Whether the call changes something, and writes an audit row; undefined: it does. */
  readonly isChange?: boolean | "perhaps";
  /** Changes the model. The answer is undefined if it was lost. */
  apply(answer: Record<string, unknown> | undefined): void;
};

/** Sends the call, and waits until it has taken effect. */
async function operate(world: World, call: Call, change: Change): Promise<void> {
  const { isImmediate } = await operateOnce(world, call, change);
  if (!isImmediate) await world.nextMinute();
}

type Made = { readonly answer: Answer; readonly isImmediate: boolean };

/**
 * Sends the call. After a 5xx the audit says whether the change was made: there is never one without the
 * other. If it is not immediate, limiters may go by the policy that they have until the cron has told them.
 */
async function operateOnce(world: World, call: Call, change: Change): Promise<Made> {
  const answer = await sendAsOperator(world, call);
  const { status } = answer;
  world.forgetPolicies();
  if (status !== 503 && status !== change.expected) {
    throw new Mismatch(`${change.audit} answered ${status}, not ${change.expected}: ${answer.text}`);
  }
  const isExpected = change.expected < 400 && change.isChange !== false;
  const isUnknown = status === 503 || change.isChange === "perhaps";
  const isMade = isUnknown ? (await world.newAuditRows()).includes(change.audit) : isExpected;
  if (isMade && !isExpected)
    throw new Mismatch(`${change.audit} was made, and should have been a ${change.expected}`);
  const body = status < 400 ? (JSON.parse(answer.text ?? "{}") as Record<string, unknown>) : undefined;
  if (isMade) {
    change.apply(body);
    world.audit.push(change.audit);
  }
  await world.checkAudit();
  await world.checkKeys();
  const isImmediate =
    body?.effective === "immediately" || (body !== undefined && body.effective === undefined);
  if (body?.effective === "within minutes" && !hasFailed(answer)) {
    throw new Mismatch(`${change.audit} takes effect within minutes, without a fault`);
  }
  return { answer, isImmediate };
}

const json = (body: object) => JSON.stringify(body);
const limit = fc.option(fc.constantFrom(1, 3, 20, 250, 300, 450));
const plan: fc.Arbitrary<PlanId> = fc.constantFrom("free", "pro", "business", "enterprise");

function refusedBecauseOf(key: KeyModel): number | undefined {
  return key.status === "revoked" ? 409 : undefined;
}

const create = step(
  "create key",
  { isolate, plan, perMinute: limit, perDay: limit, faults: operatorFaults },
  async (world, { isolate, plan, perMinute, perDay, faults }) => {
    const isMissing = plan === "enterprise" && (perMinute === null || perDay === null);
    const body = json({ name: "made", plan, requestsPerMinute: perMinute, requestsPerDay: perDay });
    const before = world.audit.length;
    const call = { isolate, method: "POST", path: "/keys", body, faults };
    const answer = await sendAsOperator(world, call);
    const expected = isMissing ? 409 : 201;
    if (answer.status !== 503 && answer.status !== expected) {
      throw new Mismatch(`creating a key answered ${answer.status}, not ${expected}: ${answer.text}`);
    }
    const rows = await world.newAuditRows();
    if (answer.status === 201) {
      const { id, key } = JSON.parse(answer.text ?? "{}") as { id: string; key: string }; // the answer's type
      world.addKey(id, key, plan, perMinute, perDay);
      world.audit.push(`keys.create ${id}`);
    } else if (answer.status === 503) world.audit.push(...rows); // its secret is not known
    if (rows.length !== world.audit.length - before)
      throw new Mismatch(`a new key has the audit rows ${rows}`);
    await world.checkAudit();
  },
);

const changeKey = step(
  "change key",
  {
    ...{ isolate, key: anyKey, faults: operatorFaults },
    change: fc.oneof(
      fc.record({ disabled: fc.boolean() }),
      fc.record({ mayCancel: fc.boolean() }),
      fc.record({ requestsPerMinute: limit, requestsPerDay: limit }),
      fc.record({ plan }),
      fc.record({ note: fc.constantFrom("a", "b") }),
      fc.record({ customer: fc.constantFrom(...CUSTOMERS, null) }),
    ),
  },
  async (world, { isolate, key: n, faults, change }) => {
    const key = at(world.keys, n);
    const after = {
      plan: "plan" in change ? change.plan : key.plan,
      perMinute: "requestsPerMinute" in change ? change.requestsPerMinute : key.perMinute,
      perDay: "requestsPerDay" in change ? change.requestsPerDay : key.perDay,
    };
    const isMissing = after.plan === "enterprise" && (after.perMinute === null || after.perDay === null);
    const call = { isolate, method: "PATCH", path: `/keys/${key.id}`, body: json(change), faults };
    await operate(world, call, {
      audit: `keys.update ${key.id}`,
      expected: refusedBecauseOf(key) ?? (isMissing ? 409 : 200),
      apply() {
        Object.assign(key, after);
        if ("customer" in change) {
          key.customer = change.customer;
          key.customers.push({ id: change.customer, fromMs: world.nowMs });
        }
        if ("mayCancel" in change) key.mayCancel = change.mayCancel;
        if ("disabled" in change) key.status = change.disabled ? "disabled" : "active";
      },
    });
    await world.checkDays(key);
  },
);

const limitCustomer = step(
  "change limit of a customer",
  {
    ...{ isolate, customer: fc.constantFrom(...CUSTOMERS), faults: operatorFaults },
    perMinute: fc.option(fc.constantFrom(1, 5, 40, 320)),
    perDay: fc.option(fc.constantFrom(2, 30, 400)),
  },
  async (world, { isolate, customer, faults, perMinute, perDay }) => {
    const body = json({ requestsPerMinute: perMinute, requestsPerDay: perDay });
    await operate(
      world,
      { isolate, method: "PATCH", path: `/customers/${customer}`, body, faults },
      {
        ...{ audit: `customers.update ${customer}`, expected: 200 },
        apply() {
          const { minute, day } = world.customers[customer];
          minute.limit = perMinute;
          day.limit = perDay;
        },
      },
    );
  },
);

const rotate = step(
  "rotate key",
  { isolate, key: anyKey, faults: operatorFaults, graceSeconds: fc.constantFrom(0, 30, 3_600) },
  async (world, { isolate, key: n, faults, graceSeconds }) => {
    const key = at(world.keys, n);
    const call = {
      isolate,
      method: "POST",
      path: `/keys/${key.id}/rotate`,
      body: json({ graceSeconds }),
      faults,
    };
    const endsAtMs = (Math.floor(world.nowMs / SECOND) + graceSeconds) * SECOND;
    await operate(world, call, {
      audit: `keys.rotate ${key.id}`,
      expected: refusedBecauseOf(key) ?? 200,
      apply(answer) {
        for (const secret of key.secrets)
          secret.expiresAtMs = Math.min(secret.expiresAtMs ?? endsAtMs, endsAtMs);
        // A secret whose answer was lost is known to nobody.
        if (typeof answer?.key === "string") key.secrets.push({ key: answer.key, expiresAtMs: null });
      },
    });
  },
);

const revoke = step(
  "revoke key",
  { isolate, key: anyKey, faults: operatorFaults },
  async (world, { isolate, key: n, faults }) => {
    const key = at(world.keys, n);
    const isChange = key.status !== "revoked";
    await operate(
      world,
      { isolate, method: "DELETE", path: `/keys/${key.id}`, faults },
      {
        ...{ audit: `keys.revoke ${key.id}`, expected: 200, isChange },
        apply() {
          key.status = "revoked";
        },
      },
    );
  },
);

const ban = step(
  "ban key",
  { isolate, key: anyKey, faults: operatorFaults, seconds: fc.constantFrom(1, 90, 4_000, 100_000) },
  async (world, { isolate, key: n, faults, seconds }) => {
    const key = at(world.keys, n);
    const body = json({ seconds, reason: "a test" });
    await operate(
      world,
      { isolate, method: "PUT", path: `/keys/${key.id}/ban`, body, faults },
      {
        ...{ audit: `bans.set ${key.id}`, expected: 200 },
        apply() {
          key.operatorBan = { endsAtMs: (Math.floor(world.nowMs / SECOND) + seconds) * SECOND };
        },
      },
    );
    await world.readPardon(key);
  },
);

/** An operator whose call has not taken effect yet waits, or repeats it. */
const lift = step(
  "lift ban",
  { isolate, key: anyKey, faults: operatorFaults, repeats: fc.boolean() },
  async (world, { key: n, repeats, ...drawn }) => {
    const key = at(world.keys, n);
    if (await liftOnce(world, key, drawn)) return;
    if (repeats && (await liftOnce(world, key, { ...drawn, faults: {} }))) return;
    // A limiter whose report fails may have a ban that D1 does not know.
    if (repeats && world.reports === "none")
      throw new Mismatch("a lift without a fault does not take effect immediately");
    await world.nextMinute();
  },
);

type Lift = { readonly isolate: number; readonly faults: Faults };

/** Returns whether it has taken effect. D1 does not know a ban that was not reported, and lifts none. */
async function liftOnce(world: World, key: KeyModel, { isolate, faults }: Lift): Promise<boolean> {
  const { lastBan } = key.limiter;
  const isStrikeBanLive = lastBan !== null && world.nowMs < lastBan.endsAtMs && lastBan !== key.pardoned;
  const isOperatorBanLive = key.operatorBan !== null && world.nowMs < key.operatorBan.endsAtMs;
  const mayBeUnreported = isStrikeBanLive && (world.reports === "fail" || Object.keys(faults).length > 0);
  const call = { isolate, method: "DELETE", path: `/keys/${key.id}/ban`, faults };
  const { answer, isImmediate } = await operateOnce(world, call, {
    audit: `bans.lift ${key.id}`,
    expected: 200,
    isChange: isOperatorBanLive || (isStrikeBanLive && (mayBeUnreported ? "perhaps" : true)),
    apply() {
      key.operatorBan = null;
    },
  });
  await world.readPardon(key);
  if (answer.status === 200 && isStrikeBanLive && !mayBeUnreported && key.pardoned !== lastBan)
    throw new Mismatch("the live ban for strikes was not lifted");
  return isImmediate;
}

const MAX_POLLS = 90;

/** Mostly it is banned. Where its limit is too high for that, or a minute ends, it is not. */
const pollAndLift = step(
  "poll until banned, and lift",
  { isolate, key: anyKey },
  async (world, { isolate, key: n }) => {
    const key = at(world.keys, n);
    const secret = at(key.secrets, 0);
    if (!world.isUsable(key, secret)) return;
    const poll = () => sendAsClient(world, key, secret, { isolate: 0, path: "/v1/no-such-path" });
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const { status, code } = await poll();
      if (status === 503 || code === "key_banned") break;
      if (status === 429) await world.advance(SECOND);
    }
    if (await liftOnce(world, key, { isolate, faults: {} })) await poll();
  },
);

const planLimits = step(
  "change plan",
  {
    isolate,
    plan: fc.constantFrom("free" as const, "pro" as const),
    perMinute: fc.constantFrom(5, 60, 310),
    faults: operatorFaults,
  },
  async (world, { isolate, plan, perMinute, faults }) => {
    const call = {
      isolate,
      method: "PATCH",
      path: `/plans/${plan}`,
      body: json({ requestsPerMinute: perMinute }),
      faults,
    };
    await operate(world, call, {
      ...{ audit: `plans.update ${plan}`, expected: 200 },
      apply() {
        world.plans[plan] = { perDay: 1_000, ...world.plans[plan], perMinute };
      },
    });
  },
);

/** It says nothing to the service: only the triggers know of it. */
const plainSql = step(
  "plain SQL",
  { key: anyKey, perMinute: fc.constantFrom(2, 30, 320) },
  async (world, { key: n, perMinute }) => {
    const key = at(world.keys, n);
    await world.service.sql(["update api_keys set requests_per_minute = ? where id = ?", perMinute, key.id]);
    key.perMinute = perMinute;
    await world.nextMinute();
  },
);

export const keySteps: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> }[] = [
  { weight: 1, arbitrary: create },
  { weight: 4, arbitrary: changeKey },
  { weight: 4, arbitrary: limitCustomer },
  { weight: 2, arbitrary: rotate },
  { weight: 1, arbitrary: revoke },
  { weight: 2, arbitrary: ban },
  { weight: 3, arbitrary: lift },
  { weight: 2, arbitrary: pollAndLift },
  { weight: 1, arbitrary: planLimits },
  { weight: 1, arbitrary: plainSql },
];
