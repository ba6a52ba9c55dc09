/** What the change of a plan says. Pure: the command says it too. */
import { differences, type Says } from "../../text/says.ts";

export const PLANS_SAY = {
  "plans.update": (before, after) => `is changed: ${differences(before, after)}`,
} as const satisfies Readonly<Record<string, Says>>;
