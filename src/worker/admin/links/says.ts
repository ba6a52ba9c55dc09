/** What each change of a link says. Pure: the command says it too. */
import { type Says, textOf } from "../../text/says.ts";

export const LINKS_SAY = {
  "links.create": (_, { customer, endsAt }) => `is made for ${textOf(customer)}, until ${textOf(endsAt)}`,
  "links.revoke": ({ customer }) => `is revoked; it was made for ${textOf(customer)}`,
} as const satisfies Readonly<Record<string, Says>>;
