/** What each change of a key's bans says. Pure: the command says it too. */
import { type Says, textOf } from "../../text/says.ts";

/** The reason of a ban that no operator has set. */
export const STRIKES_REASON = "requests went on after the limit was used up";

export const BANS_SAY = {
  "bans.set": ({ endsAt: end }, { endsAt, reason }) => {
    const replaced = end === undefined ? "" : `, in place of a ban until ${textOf(end)}`;
    return `is banned until ${textOf(endsAt)}${replaced}: ${textOf(reason)}`;
  },
  "bans.lift": ({ endsAt }) =>
    endsAt === undefined
      ? "is not banned"
      : `is no longer banned; the ban would have ended on ${textOf(endsAt)}`,
} as const satisfies Readonly<Record<string, Says>>;
