/** Demo data for the first start: always the same orders, and a key for each plan. */
import type { ORDER_STATUSES } from "../worker/db/values.ts";

const ORDER_COUNT = 250;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export type DemoOrder = {
  id: number;
  petId: number;
  quantity: number;
  shipDate?: string;
  complete: boolean;
  status: (typeof ORDER_STATUSES)[number];
};

export const DEMO_KEYS = [
  { name: "demo free", plan: "free" },
  { name: "demo pro", plan: "pro", customer: "Ada Lovelace" },
  { name: "demo business", plan: "business", customer: "Grace Hopper", note: "Calls at night, UTC." },
  {
    name: "demo enterprise",
    plan: "enterprise",
    customer: "Alan Turing",
    requestsPerMinute: 5_000,
    requestsPerDay: 1_000_000,
  },
] as const;

/** The statuses repeat every ten orders. People try 1 and 2 first: 1 can be cancelled, 2 cannot. */
const STATUSES = [
  ...(["pending", "shipped", "processing", "pending", "delivered"] as const),
  ...(["pending", "delivered", "shipped", "pending", "delivered"] as const),
];

/** In how many days from now the orders of a status ship, at least and at most. */
const SHIPS_IN_DAYS = {
  pending: [2, 20],
  processing: [0, 2],
  shipped: [-5, 0],
  delivered: [-60, -5],
} as const;

/** Some pending orders have no ship date. */
export function demoOrders(nowMs: number): DemoOrder[] {
  const random = seededRandom(20_261_121);
  return Array.from({ length: ORDER_COUNT }, (_, i) => {
    const status = STATUSES[i % STATUSES.length] ?? "pending";
    const [from, to] = SHIPS_IN_DAYS[status];
    const shipMs = nowMs + (from + (to - from) * random()) * DAY_MS;
    const isUnscheduled = status === "pending" && i > 0 && random() < 0.3;
    return {
      id: i + 1,
      petId: 1 + Math.floor(random() * 40),
      quantity: 1 + Math.floor(random() ** 3 * 6),
      ...(isUnscheduled ? {} : { shipDate: new Date(shipMs - (shipMs % HOUR_MS)).toISOString() }),
      complete: status === "delivered",
      status,
    };
  });
}

/** A linear congruential generator from Numerical Recipes: repeatable, and good enough for demo data. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
