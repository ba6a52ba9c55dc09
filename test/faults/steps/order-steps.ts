/** Steps of operators with orders: imports that break off and are repeated, changing and deleting one order. */
import fc from "fast-check";
import { type Answer, sendAsOperator } from "../model/client.ts";
import { Mismatch } from "../model/limiter-model.ts";
import { type ImportLine, ORDER_IDS, type Order } from "../model/order-model.ts";
import type { World } from "../model/world.ts";
import { at, d1Faults, isolate, type Step, step } from "./step.ts";

const STATUSES = ["pending", "processing", "shipped", "delivered"] as const;
const SHIP_DATES = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"] as const;
const LINES_PER_CHUNK = 1_000;
const MAX_TRIES = 6;

const line = fc.record({
  order: fc.nat(ORDER_IDS.length - 1),
  petId: fc.option(fc.nat(3)),
  quantity: fc.option(fc.nat(2)),
  shipDate: fc.option(fc.constantFrom(...SHIP_DATES)),
  complete: fc.option(fc.boolean()),
  status: fc.option(fc.constantFrom("pending" as const, ...STATUSES)),
  isRefused: fc.integer({ min: 0, max: 7 }).map((n) => n === 7),
});

/** Lines in front of them, which fill the chunks before. */
const filler = fc.constantFrom(0, 0, 0, 990, 1_000, 1_995);

const importOrders = step(
  "import",
  {
    isolate,
    lines: fc.array(line, { minLength: 1, maxLength: 12 }),
    filler,
    petId: fc.nat(2),
    restoresCancelled: fc.integer({ min: 0, max: 7 }).map((n) => n === 7),
    faults: d1Faults,
  },
  async (world, drawn) => {
    const lines: (ImportLine | undefined)[] = Array.from({ length: drawn.filler }, (_, i) => ({
      ...{ id: String(1_000_000 + i), petId: drawn.petId },
      ...{ quantity: null, shipDate: null, complete: null, status: null },
    }));
    for (const { order, isRefused, ...members } of drawn.lines) {
      lines.push(isRefused ? undefined : { id: at(ORDER_IDS, order), ...members });
    }
    const body = lines.map(toText).join("\n");
    const id = `imp_model-run-${world.number}-${world.orders.imports++}-0000000`;
    let answer: Answer;
    let tries = 0;
    // The command line repeats a request after a 503, with the same import id.
    do {
      const faults = tries === 0 ? drawn.faults : {};
      const path = `/orders?import=${id}&from=0&restore-cancelled=${drawn.restoresCancelled}`;
      answer = await sendAsOperator(world, {
        isolate: drawn.isolate + tries,
        method: "POST",
        path,
        body,
        faults,
      });
    } while (answer.status === 503 && ++tries < MAX_TRIES);
    const counts = { inserted: 0, updated: 0, unchanged: 0, cancelled: 0, refusedCount: 0 };
    for (const chunk of chunksOf(lines)) {
      const good = chunk.filter((each) => each !== undefined);
      const stored = world.orders.storeChunk(good, drawn.restoresCancelled);
      counts.inserted += stored.inserted;
      counts.updated += stored.updated;
      counts.unchanged += stored.unchanged;
      counts.cancelled += stored.cancelled;
      counts.refusedCount += chunk.length - good.length;
    }
    world.audit.push(`orders.import ${id}`);
    if (answer.status !== 200) throw new Mismatch(`the import answered ${answer.status}: ${answer.text}`);
    const { inserted, updated, unchanged, cancelled, refusedCount } = JSON.parse(
      answer.text ?? "{}",
    ) as typeof counts; // the answer's type
    const got = { inserted, updated, unchanged, cancelled, refusedCount };
    if (JSON.stringify(got) !== JSON.stringify(counts)) {
      throw new Mismatch(`the import counted ${JSON.stringify(got)}, not ${JSON.stringify(counts)}`);
    }
    await world.checkOrders();
    await world.checkAudit();
  },
);

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

function toText(order: ImportLine | undefined): string {
  if (order === undefined) return '{"id":"not a number"}';
  const { id, status, ...members } = order;
  return `{"id":${id},${JSON.stringify({ ...members, ...(status === null ? {} : { status }) }).slice(1)}`;
}

/** As the service divides them: each chunk ends with its thousandth order, or with the last line. */
function chunksOf(lines: readonly (ImportLine | undefined)[]): (ImportLine | undefined)[][] {
  const chunks: (ImportLine | undefined)[][] = [[]];
  let orders = 0;
  for (const each of lines) {
    chunks.at(-1)?.push(each);
    if (each !== undefined && ++orders % LINES_PER_CHUNK === 0) chunks.push([]);
  }
  return chunks.filter(({ length }) => length > 0);
}

export const orderSteps: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> }[] = [
  { weight: 10, arbitrary: importOrders },
  { weight: 8, arbitrary: change },
  { weight: 3, arbitrary: remove },
];
