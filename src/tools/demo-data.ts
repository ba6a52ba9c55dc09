/** Demo data for the first start: the same orders every time, and a key for each plan. */
import type { ORDER_STATUSES } from "../worker/db/values.ts";

const ORDER_COUNT = 250;
const DAY_MS = 86_400_000;

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
  { name: "demo pro", plan: "pro", ownerName: "Ada Lovelace", ownerEmail: "ada@example.com" },
  { name: "demo business", plan: "business", ownerName: "Grace Hopper", note: "Calls at night, UTC." },
  {
    name: "demo enterprise",
    plan: "enterprise",
    ownerName: "Alan Turing",
    ownerEmail: "alan@example.com",
    requestsPerMinute: 5_000,
    requestsPerDay: 1_000_000,
  },
] as const;

/** For the first requests that people try: 1 can be cancelled, 2 and 3 cannot. */
const STATUS_OF_FIRST_ORDERS = ["pending", "shipped", "processing"] as const;

/**
 * After the first three, the newest orders are pending, the oldest delivered. A pending order may not have a ship date yet.
 */
export function demoOrders(nowMs: number): DemoOrder[] {
  const random = seededRandom(20_261_121);
  return Array.from({ length: ORDER_COUNT }, (_, i) => {
    const age = 1 - i / ORDER_COUNT;
    const usual = statusAtAge(age, random());
    const status = STATUS_OF_FIRST_ORDERS[i] ?? usual;
    const shipDate = new Date(Math.floor((nowMs + (10 - 60 * age) * DAY_MS) / 3_600_000) * 3_600_000);
    const isUnscheduled = status === "pending" && random() < 0.3;
    return {
      id: i + 1,
      petId: 1 + Math.floor(random() * 40),
      quantity: 1 + Math.floor(random() ** 3 * 6),
      ...(isUnscheduled ? {} : { shipDate: shipDate.toISOString() }),
      complete: status === "delivered",
      status,
    };
  });
}

function statusAtAge(age: number, chance: number): DemoOrder["status"] {
  const progress = age + (chance - 0.5) * 0.3;
  if (progress < 0.3) return "pending";
  if (progress < 0.4) return "processing";
  return progress < 0.6 ? "shipped" : "delivered";
}

/** A linear congruential generator, as in Numerical Recipes: good enough for demo data, and repeatable. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
