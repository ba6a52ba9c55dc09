/** What the undo of a load says. Pure: the command says it too. */
import { counted, formatNumber } from "../../text/format.ts";
import { membersOf, type Says } from "../../text/says.ts";

export const UNDO_SAYS = {
  /** The answer has the figures in `load`, and the entry has them by themselves. */
  "audit.undo": (_, { left, waiting, load, ...entry }) => {
    const { restored, removed, changed } = { ...entry, ...membersOf(load) };
    const ids = Array.isArray(left) && left.length > 0 ? ` (${left.join(", ")})` : "";
    const figures = [
      [removed, "deleted"],
      [changed, `left as they are now${ids}`],
      [waiting, "still loaded: undo again"],
    ].flatMap(([count, does]) => (Number(count) > 0 ? `${formatNumber(Number(count))} ${does}` : []));
    return `is undone: ${[`${counted(Number(restored), "order")} as before`, ...figures].join(", ")}`;
  },
} as const satisfies Readonly<Record<string, Says>>;
