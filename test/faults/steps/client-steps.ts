/** Steps of clients: lists, cancels, bursts, polling, waiting for Retry-After, keys that do not exist. */
import fc from "fast-check";
import { inventKey, mintKey } from "../../support/mint.ts";
import {
  type Answer,
  applyToCustomer,
  applyTogether,
  hasFailed,
  isRefusedByShared,
  LIST,
  send,
  sendAsClient,
} from "../model/client.ts";
import { Mismatch } from "../model/limiter-model.ts";
import { ORDER_IDS } from "../model/order-model.ts";
import { CUSTOMERS, type KeyModel, SECOND, type World } from "../model/world.ts";
import type { Faults } from "../worker/control.ts";
import { anyKey, at, faults, isolate, type Step, step, struckTogether } from "./step.ts";

const NO_SUCH_PATH = "/v1/no-such-path";

const list = step(
  "list",
  { isolate, key: anyKey, secret: fc.nat(3), knowsEtag: fc.boolean(), faults },
  (world, drawn) => listOrders(world, chosen(world, drawn), drawn),
);

async function listOrders(
  world: World,
  { key, secret }: Chosen,
  drawn: { readonly isolate: number; readonly knowsEtag: boolean; readonly faults: Faults },
): Promise<void> {
  const etag = drawn.knowsEtag ? world.orders.etag() : undefined;
  const headers = etag === undefined ? {} : { "If-None-Match": etag };
  const answer = await sendAsClient(world, key, secret, { ...drawn, path: LIST, headers });
  if (!answer.isAdmitted || answer.status === 503) return;
  const shown = answer.headers.get("ETag") ?? "";
  const expected = etag !== undefined && shown === etag ? 304 : 200;
  if (answer.status !== expected) throw new Mismatch(`the list was ${answer.status}, not ${expected}`);
  if (etag !== undefined && shown !== etag) throw new Mismatch(`the list was ${shown}, not ${etag}`);
  if (expected === 200) world.orders.checkList(shown, answer.text ?? "");
}

const MANY = 10_500;
const FIRST_OF_MANY = 2_000_000;

/** More orders than one query reads, and none cached, so that D1 can fail in the middle of a list. */
const longList = step(
  "long list",
  { isolate, key: anyKey, skip: fc.integer({ min: 1, max: 5 }), times: fc.constantFrom(1, 2, 9) },
  async (world, { isolate, key, skip, times }) => {
    if (!world.orders.orders.has(String(FIRST_OF_MANY))) await addManyOrders(world);
    await world.service.control("restart", {}, isolate);
    const d1 = { kind: "fail", skip, times, error: 0 } as const;
    await listOrders(world, chosen(world, { key, secret: 0 }), { isolate, knowsEtag: false, faults: { d1 } });
  },
);

async function addManyOrders(world: World): Promise<void> {
  await world.service.sql([
    `with recursive n (i) as (select 0 union all select i + 1 from n where i < ${MANY} - 1)
     insert into orders (id, quantity) select ${FIRST_OF_MANY} + i, i % 3 from n`,
  ]);
  for (let i = 0; i < MANY; i++) {
    const order = {
      petId: null,
      quantity: i % 3,
      shipDate: null,
      complete: null,
      status: "pending",
    } as const;
    world.orders.set(String(FIRST_OF_MANY + i), order);
  }
}

const cancel = step(
  "cancel",
  { isolate, key: anyKey, secret: fc.nat(3), order: fc.nat(ORDER_IDS.length - 1), faults },
  async (world, drawn) => {
    const { key, secret } = chosen(world, drawn);
    const id = at(ORDER_IDS, drawn.order);
    const order = world.orders.orders.get(id);
    const call = { ...drawn, path: `${LIST}/${id}`, method: "DELETE" };
    const { isAdmitted, ...answer } = await sendAsClient(world, key, secret, call);
    const isWritten = !answer.trace.some(({ on, fault }) => on === "d1" && fault === "fail");
    if (isAdmitted && key.mayCancel && order?.status === "pending" && isWritten) {
      world.orders.delete(id);
      world.orders.cancelled.push({ orderId: id, keyId: key.id });
    }
    await world.checkOrders();
    if (!isAdmitted || answer.status === 503) return;
    const expected = !key.mayCancel
      ? "403 not_allowed"
      : order === undefined
        ? "404 order_not_found"
        : order.status === "pending"
          ? "204 undefined"
          : order.status === "shipped"
            ? "409 order_already_shipped"
            : "409 order_not_cancellable";
    const got = `${answer.status} ${answer.code}`;
    if (got !== expected) throw new Mismatch(`the cancel answered ${got}, not ${expected}`);
  },
);

const request = step("request", { isolate, key: anyKey, secret: fc.nat(3), faults }, (world, drawn) =>
  ask(world, chosen(world, drawn), drawn.isolate, drawn.faults),
);

/** Requests at once, through all isolates: exactly what is left is admitted. Those of an isolate share calls. */
const burst = step(
  "burst",
  {
    key: anyKey,
    count: fc.integer({ min: 2, max: 90 }),
    isEarlier: fc.boolean(),
    struck: struckTogether,
    /** Of so many requests one brings the fault. */
    each: fc.constantFrom(1, 3, 10),
    endsInCrash: fc.boolean(),
  },
  async (world, { key: n, count, isEarlier, struck, each, endsInCrash }) => {
    const key = at(world.keys, n);
    const [secret] = key.secrets.filter((each) => world.isUsable(key, each));
    if (!secret) return;
    const calls = Array.from({ length: count }, (_, i) =>
      send(world, secret.key, {
        ...{ isolate: i, path: NO_SUCH_PATH, isTogether: true, isEarlier },
        faults: i % each === 0 ? struck : {},
      }),
    );
    const answers = await Promise.all(calls);
    applyTogether(world, key, answers);
    applyToCustomer(world, world.sharedOf(key), answers);
    if (endsInCrash) await world.crash(key);
  },
);

/** Requests of all keys of a customer at once, through all isolates: their limit is one. */
const burstOfCustomer = step(
  "burst of a customer",
  {
    customer: fc.constantFrom(...CUSTOMERS),
    count: fc.integer({ min: 2, max: 25 }),
    struck: struckTogether,
    each: fc.constantFrom(3, 10),
    endsInCrash: fc.constantFrom("of the customer", "of a key", "none"),
  },
  async (world, { customer: id, count, struck, each, endsInCrash }) => {
    const keys = world.keys.filter(({ customer }) => customer === id);
    const sent = keys.map(async (key, n) => {
      const [secret] = key.secrets.filter((each) => world.isUsable(key, each));
      const calls = Array.from({ length: secret ? count : 0 }, (_, i) =>
        send(world, secret?.key ?? "", {
          ...{ isolate: n + i, path: NO_SUCH_PATH, isTogether: true },
          faults: i % each === 0 ? struck : {},
        }),
      );
      return { key, answers: await Promise.all(calls) };
    });
    const all: Answer[] = [];
    for (const { key, answers } of await Promise.all(sent)) {
      applyTogether(world, key, answers);
      all.push(...answers);
    }
    const [first] = keys;
    applyToCustomer(world, first && world.sharedOf(first), all);
    if (endsInCrash === "of the customer") await world.crashCustomer(id);
    if (endsInCrash === "of a key" && first) await world.crash(first);
  },
);

/** A client that ignores its refusals. */
const poll = step(
  "poll",
  {
    isolate,
    key: anyKey,
    count: fc.integer({ min: 5, max: 45 }),
    gapMs: fc.constantFrom(50, 400, 1_000, 1_900),
    endsInCrash: fc.boolean(),
  },
  async (world, { isolate, key: n, count, gapMs, endsInCrash }) => {
    const key = at(world.keys, n);
    const secret = at(key.secrets, 0);
    if (!world.isUsable(key, secret)) return;
    for (let sent = 0; sent < count; sent++) {
      const { status } = await ask(world, { key, secret }, isolate + sent, {});
      if (status === 503) break;
      await world.advance(gapMs);
    }
    if (endsInCrash) await world.crash(key);
  },
);

const MAX_RETRY_AFTER_SECONDS = 2_147_483;

/** A second before the time in Retry-After a request is refused, and at that time one is admitted. */
const wait = step(
  "wait for Retry-After",
  { isolate, key: anyKey, isEarly: fc.boolean() },
  async (world, drawn) => {
    const key = at(world.keys, drawn.key);
    const secret = at(key.secrets, 0);
    if (!world.isUsable(key, secret)) return;
    const refused = await ask(world, { key, secret }, drawn.isolate, {});
    if (refused.status !== 429) return;
    const seconds = Number(refused.headers.get("Retry-After"));
    if (seconds === MAX_RETRY_AFTER_SECONDS) return; // the real wait may be longer
    if (drawn.isEarly) {
      await world.advance((seconds - 1) * SECOND);
      if (!world.isUsable(key, secret)) return;
      const early = await ask(world, { key, secret }, drawn.isolate + 1, {});
      // The policy was too old to decide by, and could not be loaded.
      if (early.status === 503) return;
      if (early.status !== 429) throw new Mismatch(`a request that came a second early got ${early.status}`);
      if (early.code !== refused.code) return; // it was the last strike before a ban
      await world.advance(SECOND);
    } else await world.advance(seconds * SECOND);
    if (!world.isUsable(key, secret)) return;
    const admitted = await ask(world, { key, secret }, drawn.isolate + 2, {});
    // The key's own limit is over, and the customer's was not asked before.
    if (isRefusedByShared(admitted) && !isRefusedByShared(refused)) return;
    if (admitted.status === 429) throw new Mismatch("a request that waited for Retry-After was refused");
  },
);

/** A text that is no key, a key whose MAC is wrong, and a key that D1 does not have. */
const UNKNOWN = {
  malformed: async () => "sok_none",
  invented: inventKey,
  unknown: async () => (await mintKey()).key,
};

const unknownKey = step(
  "unknown key",
  { isolate, kind: fc.constantFrom("malformed" as const, "invented" as const, "unknown" as const), faults },
  async (world, { kind, ...drawn }) => {
    const answer = await send(world, await UNKNOWN[kind](), { ...drawn, path: LIST });
    if (answer.status !== 401 && !(answer.status === 503 && hasFailed(answer))) {
      throw new Mismatch(`an unknown key got ${answer.status}`);
    }
    if (kind !== "unknown" && answer.trace.some(({ on }) => on === "admit"))
      throw new Mismatch(`a key that is ${kind} reached a limiter`);
  },
);

type Chosen = { readonly key: KeyModel; readonly secret: KeyModel["secrets"][number] };

async function ask(world: World, { key, secret }: Chosen, isolate: number, faults: Faults) {
  const answer = await sendAsClient(world, key, secret, { isolate, path: NO_SUCH_PATH, faults });
  if (answer.isAdmitted && answer.status !== 404) throw new Mismatch(`an unknown path got ${answer.status}`);
  return answer;
}

function chosen(world: World, drawn: { readonly key: number; readonly secret: number }) {
  const key = at(world.keys, drawn.key);
  return { key, secret: at(key.secrets, drawn.secret) };
}

export const clientSteps: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> }[] = [
  { weight: 12, arbitrary: list },
  { weight: 1, arbitrary: longList },
  { weight: 12, arbitrary: cancel },
  { weight: 10, arbitrary: request },
  { weight: 5, arbitrary: burst },
  { weight: 5, arbitrary: burstOfCustomer },
  { weight: 4, arbitrary: poll },
  { weight: 6, arbitrary: wait },
  { weight: 2, arbitrary: unknownKey },
];
