/** What an undo says. Pure: the command says it too. */
import { counted, formatNumber } from "../../text/format.ts";
import { membersOf, type Says } from "../../text/says.ts";

/** A request can change 500 keys or orders, and what was left matters more. */
const MAX_UNDONE_SHOWN = 10;

export const UNDO_SAYS = {
  /** The audit row of the undo of a load has its figures without the ids. */
  "audit.undo": (_, { undone, left, load, ...audited }) => {
    const idsOf = (value: unknown) => (Array.isArray(value) ? value : []);
    const ids = idsOf(left).join(", ");
    const { restored, removed, changed, waiting } = { ...audited, ...membersOf(load) };
    if (restored === undefined) {
      const shown = idsOf(undone).slice(0, MAX_UNDONE_SHOWN);
      const more = idsOf(undone).length - shown.length;
      return `is undone for ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}${ids === "" ? "" : `; left as they are now: ${ids}`}`;
    }
    const figures = [
      [removed, "deleted"],
      [changed, `left as they are now${ids === "" ? "" : ` (${ids})`}`],
      [waiting, "still loaded: undo again"],
    ].flatMap(([count, does]) => (Number(count) > 0 ? `${formatNumber(Number(count))} ${does}` : []));
    return `is undone: ${[`${counted(Number(restored), "order")} as before`, ...figures].join(", ")}`;
  },
} as const satisfies Readonly<Record<string, Says>>;
