/** The sentence about each change, by the id of its call. Pure: the command says it too. */
import { type Members, membersOf, type Says } from "../text/says.ts";
import { BANS_SAY } from "./bans/says.ts";
import { CUSTOMERS_SAY } from "./customers/says.ts";
import { KEYS_SAY } from "./keys/says.ts";
import { LINKS_SAY } from "./links/says.ts";
import { ORDERS_SAY } from "./orders/says.ts";
import { PLANS_SAY } from "./plans/says.ts";
import { UNDO_SAYS } from "./undo/says.ts";

export const SAYS: Readonly<Record<string, Says>> = {
  ...UNDO_SAYS,
  ...KEYS_SAY,
  ...CUSTOMERS_SAY,
  ...BANS_SAY,
  ...PLANS_SAY,
  ...ORDERS_SAY,
  ...LINKS_SAY,
};

type Change = {
  readonly call: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** The names of customers by their ids. */
  readonly names?: Readonly<Record<string, string>>;
};

/** Returns the sentence about the change of an audit entry, without its subject. */
export function saysOf({ call, before, after, names = {} }: Change): string {
  return SAYS[call]?.(withNames(before, names), withNames(after, names)) ?? call;
}

/** The audit log has the ids of customers. People read the names. */
export function withNames(value: unknown, names: NonNullable<Change["names"]>): Members {
  const nameOf = (customer: unknown) => (typeof customer === "string" ? (names[customer] ?? customer) : null);
  const members = Object.entries(membersOf(value));
  return Object.fromEntries(
    members.map(([name, each]) => [name, name === "customer" || name === "into" ? nameOf(each) : each]),
  );
}
