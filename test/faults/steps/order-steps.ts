/** Steps of operators with orders: loads that are repeated, changing and deleting one order. */
import fc from "fast-check";
import { type Answer, sendAsOperator } from "../model/client.ts";
import { Mismatch } from "../model/limiter-model.ts";
import { type Counts, ORDER_IDS, type Order, type OrderLine, STATUSES } from "../model/order-model.ts";
import type { World } from "../model/world.ts";
import { at, d1Faults, isolate, type Step, step } from "./step.ts";

const SHIP_DATES = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"] as const;
const MAX_TRIES = 6;

const order = fc.record({
  order: fc.nat(ORDER_IDS.length - 1),
  petId: fc.option(fc.nat(3)),
  quantity: fc.option(fc.nat(2)),
  shipDate: fc.option(fc.constantFrom(...SHIP_DATES)),
  complete: fc.option(fc.boolean()),
  status: fc.option(fc.constantFrom("pending" as const, ...STATUSES)),
});

/** Orders in front of them. */
const filler = fc.constantFrom(0, 0, 0, 1_000);

const load = step(
  "load",
  {
    isolate,
    orders: fc.uniqueArray(order, {
      minLength: 1,
      maxLength: ORDER_IDS.length,
      selector: (each) => each.order,
    }),
    hasWrongElement: fc.integer({ min: 0, max: 7 }).map((n) => n === 7),
    filler,
    petId: fc.nat(2),
    restoresCancelled: fc.integer({ min: 0, max: 7 }).map((n) => n === 7),
    allowsBackwards: fc.boolean(),
    faults: d1Faults,
  },
  async (world, { isolate, orders, hasWrongElement, filler, petId, faults, ...options }) => {
    const { restoresCancelled, allowsBackwards } = options;
    const lines: OrderLine[] = [
      ...Array.from({ length: filler }, (_, i) => ({
        ...{ id: String(1_000_000 + i), petId },
        ...{ quantity: null, shipDate: null, complete: null, status: null },
      })),
      ...orders.map(({ order, ...members }) => ({ id: at(ORDER_IDS, order), ...members })),
    ];
    const elements = [...lines.map(toText), ...(hasWrongElement ? ['{"id":"not a number"}'] : [])];
    const path = `/orders?file=model&restore-cancelled=${restoresCancelled}&allow-backwards=${allowsBackwards}`;
    const call = { method: "PUT", path, body: `[${elements.join(",")}]` };
    let answer: Answer;
    let tries = 0;
    // The command line repeats a load after a 503.
    do {
      answer = await sendAsOperator(world, {
        ...call,
        isolate: isolate + tries,
        faults: tries === 0 ? faults : {},
      });
    } while (answer.status === 503 && ++tries < MAX_TRIES);
    const expected = hasWrongElement ? 400 : 200;
    if (answer.status !== expected)
      throw new Mismatch(`the load answered ${answer.status}, not ${expected}: ${answer.text}`);
    if (!hasWrongElement) {
      const counts = world.orders.load(lines, restoresCancelled, allowsBackwards);
      checkLoad(world, answer, counts, lines.length);
    }
    await world.checkOrders();
    await world.checkAudit();
  },
);

/** If an answer was lost after all was stored, the repeated load finds nothing to change. */
function checkLoad(world: World, { text = "{}" }: Answer, counts: Counts, orders: number): void {
  const { inserted, updated, unchanged, cancelled, kept } = JSON.parse(text) as Counts; // the answer's type
  const changed = counts.inserted + counts.updated;
  const isRepeated = inserted + updated === 0 && unchanged === orders - counts.cancelled;
  const isFirst =
    inserted === counts.inserted && updated === counts.updated && unchanged === counts.unchanged;
  const isLeft = cancelled === counts.cancelled && kept === counts.kept;
  if (!isLeft || !(isFirst || isRepeated))
    throw new Mismatch(`the load counted ${text}, not ${JSON.stringify(counts)}`);
  if (changed > 0) world.audit.push("orders.load orders");
}

const change = step(
  "change order",
  {
    ...{ isolate, order: fc.nat(ORDER_IDS.length - 1), faults: d1Faults },
    status: fc.option(fc.constantFrom(...STATUSES)),
    members: fc.record({
      quantity: fc.option(fc.nat(2)),
      shipDate: fc.option(fc.constantFrom(...SHIP_DATES)),
    }),
    allowBackwards: fc.boolean(),
  },
  async (world, { isolate, order, faults, status, members, allowBackwards }) => {
    const id = at(ORDER_IDS, order);
    const before = world.orders.orders.get(id);
    const body = { ...(status === null ? {} : { status }), ...members, allowBackwards };
    const call = { isolate, method: "PATCH", path: `/orders/${id}`, faults, body: JSON.stringify(body) };
    const answer = await sendAsOperator(world, call);
    const isForward =
      before &&
      (status === null || allowBackwards || STATUSES.indexOf(status) >= STATUSES.indexOf(before.status));
    const after: Order | undefined = before && { ...before, ...members, status: status ?? before.status };
    const expected = !before ? 404 : isForward ? 200 : 409;
    await settle(world, answer, expected, `orders.update ${id}`, () => {
      if (after && isForward) world.orders.set(id, after);
    });
  },
);

const remove = step(
  "delete order",
  { isolate, order: fc.nat(ORDER_IDS.length - 1), faults: d1Faults },
  async (world, { isolate, order, faults }) => {
    const id = at(ORDER_IDS, order);
    const expected = world.orders.orders.has(id) ? 200 : 404;
    const answer = await sendAsOperator(world, { isolate, method: "DELETE", path: `/orders/${id}`, faults });
    await settle(world, answer, expected, `orders.delete ${id}`, () => world.orders.delete(id));
  },
);

/** After a 5xx the audit says whether the change was made: there is never one without the other. */
async function settle(
  world: World,
  answer: Answer,
  expected: number,
  audit: string,
  apply: () => void,
): Promise<void> {
  if (answer.status !== 503 && answer.status !== expected) {
    throw new Mismatch(`the operator got ${answer.status}, not ${expected}: ${answer.text}`);
  }
  const isMade = answer.status === 503 ? (await world.newAuditRows()).includes(audit) : expected === 200;
  if (isMade && expected !== 200) throw new Mismatch(`a change was made that should have been a ${expected}`);
  if (isMade) {
    apply();
    world.audit.push(audit);
  }
  await world.checkOrders();
  await world.checkAudit();
}

function toText(order: OrderLine): string {
  const { id, status, ...members } = order;
  return `{"id":${id},${JSON.stringify({ ...members, ...(status === null ? {} : { status }) }).slice(1)}`;
}

export const orderSteps: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> }[] = [
  { weight: 10, arbitrary: load },
  { weight: 8, arbitrary: change },
  { weight: 3, arbitrary: remove },
];
