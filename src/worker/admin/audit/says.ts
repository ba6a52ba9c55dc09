/** What an undo says. Pure: the command says it too. */
import type { Says } from "../../text/says.ts";

export const AUDIT_SAYS = {
  "audit.undo": (_, { undone, left }) => {
    const others = Array.isArray(left) && left.length > 0 ? `; left as they are now: ${left.join(", ")}` : "";
    return `is undone for ${Array.isArray(undone) ? undone.join(", ") : ""}${others}`;
  },
} as const satisfies Readonly<Record<string, Says>>;
