/** Demo data for the first start: always the same orders, and a key for each plan, with its use of two months. */
const ORDER_COUNT = 250;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export const DEMO_KEYS = [
  { name: "demo free", plan: "free", use: "hobby" },
  { name: "demo pro", plan: "pro", customer: "Ada Lovelace", use: "grows" },
  {
    name: "demo business",
    plan: "business",
    customer: "Grace Hopper",
    note: "Calls at night, UTC.",
    use: "nightly",
  },
  {
    name: "demo enterprise",
    plan: "enterprise",
    customer: "Alan Turing",
    requestsPerMinute: 5_000,
    requestsPerDay: 1_000_000,
    use: "shop",
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

/** Some pending orders have no ship date. The documents have the first two orders as examples. */
export function demoOrders(nowMs: number) {
  return Array.from({ length: ORDER_COUNT }, (_, i) => {
    const status = STATUSES[i % STATUSES.length] ?? "pending";
    const [from, to] = SHIPS_IN_DAYS[status];
    const shipMs = nowMs + (from + (i % (to - from))) * DAY_MS;
    const isUnscheduled = status === "pending" && i % 4 === 3;
    return {
      id: i + 1,
      petId: 1 + ((26 * i + 9) % 40),
      quantity: 6 - (Math.floor(i / 2) % 6),
      ...(isUnscheduled ? {} : { shipDate: new Date(shipMs - (shipMs % HOUR_MS)).toISOString() }),
      complete: status === "delivered",
      status,
    };
  });
}
