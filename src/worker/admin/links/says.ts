/** What each change of a link says. Pure: the command says it too. */
import { type Says, textOf } from "../../text/says.ts";

export const LINKS_SAY = {
  "links.create": (_, { owner, endsAt }) => `is made for ${textOf(owner)}, until ${textOf(endsAt)}`,
  "links.revoke": ({ owner }) => `is revoked; it was made for ${textOf(owner)}`,
} as const satisfies Readonly<Record<string, Says>>;
