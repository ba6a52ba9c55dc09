/** What each change of orders says. Pure: the command says it too. */
import { formatNumber } from "../../text/format.ts";
import { differences, type Says, textOf } from "../../text/says.ts";

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
