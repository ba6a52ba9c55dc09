/** Links to a list of usage with frequent ranges. */
import { DAY_SECONDS, daysBefore } from "../../text/time.ts";
import { addressOf } from "./forms.ts";
import type { FormTexts } from "./members.ts";
import type { ConsoleContext } from "./page.tsx";

export const OF_THE_DAY = "In percent of the limit of each day";

type Range = { readonly from: string; readonly to: string };

/** `shown` are the texts of the filters, and `answered` is the range of the answer. */
export function rangePresets(c: ConsoleContext, shown: FormTexts, answered: Range) {
  const preset = (name: string, from: string, to = "") => {
    const isShown = answered.from.startsWith(from) && (shown.to ?? "") === to;
    return [name, addressOf(c.req.path, { ...shown, from, to, after: "" }), isShown] as const;
  };
  const thisMonth = firstOfMonth(daysBefore(0));
  return [
    preset("Today", daysBefore(0)),
    preset("Yesterday", daysBefore(1), daysBefore(0)),
    preset("7 days", daysBefore(6)),
    preset("30 days", daysBefore(29)),
    preset("This month", thisMonth),
    preset("Last month", firstOfMonth(daysBefore(Number(daysBefore(0).slice(-2)))), thisMonth),
  ];
}

function firstOfMonth(day: string): string {
  return `${day.slice(0, "2026-11-".length)}01`;
}

/** Returns how many days have a part in the range. */
export function daysIn({ from, to }: Range): number {
  return Math.ceil((Date.parse(to) - Date.parse(from)) / (DAY_SECONDS * 1000));
}
