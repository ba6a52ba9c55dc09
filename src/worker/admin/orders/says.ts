/** What each change of orders says. Pure: the command says it too. */
import { counted, formatNumber } from "../../text/format.ts";
import { differences, type Says, textOf } from "../../text/says.ts";
import type { Shipment } from "./schema.ts";

const FIGURES = ["inserted", "updated", "unchanged", "cancelled", "kept"] as const;

export const ORDERS_SAY = {
  "orders.update": (before, after) => `is changed: ${differences(before, after)}`,
  "orders.ship": () => "is shipped",
  "orders.delete": ({ status }) => `is deleted; its status was ${textOf(status)}`,
  "orders.load": (_, { file, ...after }) => {
    const figures = FIGURES.map((name) => [Number(after[name] ?? 0), name] as const);
    const counts = figures.filter(([count]) => count > 0);
    const from = typeof file === "string" ? ` from ${file}` : "";
    return `are loaded${from}: ${counts.map(([count, name]) => `${formatNumber(count)} ${name}`).join(", ")}`;
  },
} as const satisfies Readonly<Record<string, Says>>;

/** What `orders.ship` did. */
export function shippedSays({ shipped, unchanged }: Pick<Shipment, "shipped" | "unchanged">): string {
  const others = unchanged.map(({ id, status }) => ` Order ${id} was ${status} before.`);
  return `${counted(shipped.length, "order")} shipped.${others.join("")}`;
}

export function missingSays(ids: readonly string[]): string {
  return `No order has these ids: ${ids.join(", ")}. Such an order was cancelled or deleted, or was never stored.`;
}
