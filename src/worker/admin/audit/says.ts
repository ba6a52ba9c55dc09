/** What an undo says. Pure: the command says it too. */
import { type Says, textOf } from "../../text/says.ts";

export const AUDIT_SAYS = {
  "audit.undo": (_, { call, object }) => `is undone: ${textOf(call)} of ${textOf(object)}`,
} as const satisfies Readonly<Record<string, Says>>;
