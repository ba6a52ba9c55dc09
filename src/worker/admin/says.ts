/** The sentence about each change, by the id of its call. Pure: the command says it too. */
import { membersOf, type Says } from "../text/says.ts";
import { BANS_SAY } from "./bans/says.ts";
import { KEYS_SAY } from "./keys/says.ts";
import { LINKS_SAY } from "./links/says.ts";
import { ORDERS_SAY } from "./orders/says.ts";
import { PLANS_SAY } from "./plans/says.ts";
import { UNDO_SAYS } from "./undo/says.ts";

export const SAYS: Readonly<Record<string, Says>> = {
  ...UNDO_SAYS,
  ...KEYS_SAY,
  ...BANS_SAY,
  ...PLANS_SAY,
  ...ORDERS_SAY,
  ...LINKS_SAY,
};

type Change = { readonly call: string; readonly before?: unknown; readonly after?: unknown };

/** Returns the sentence about the change of an audit entry, without its subject. */
export function saysOf({ call, before, after }: Change): string {
  return SAYS[call]?.(membersOf(before), membersOf(after)) ?? call;
}
