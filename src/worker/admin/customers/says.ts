/** What each change of a customer says. Pure: the command says it too. */
import { differences, type Says, textOf } from "../../text/says.ts";

export const CUSTOMERS_SAY = {
  "customers.create": () => "is created",
  "customers.update": (before, after) => `is changed: ${differences(before, after)}`,
  "customers.merge": (_, { into }) => `is merged into ${textOf(into)}, which has its keys and its use now`,
  "customers.erase": () =>
    "is erased: its name, e-mail address and note are gone, and so are those of its keys",
} as const satisfies Readonly<Record<string, Says>>;
