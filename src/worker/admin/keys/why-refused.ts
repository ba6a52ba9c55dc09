/** Says why requests of a key were refused in the last days, and what helps. Pure. */
import { MAX_REQUESTS_PER_DAY, MAX_REQUESTS_PER_MINUTE } from "../../db/values.ts";
import { CUSTOMER_WINDOWS, windowInWords } from "../../key/windows.ts";
import { counted, formatNumber } from "../../text/format.ts";
import type { HourUsageView } from "../usage/schema.ts";
import type { KeyView } from "./schema.ts";

type Hour = Pick<HourUsageView, "start" | "admitted" | "refusedMinutes">;
type Refused = { readonly at: string; readonly count: number };

/** `hours` are all hours of the last days, today included. Returns a sentence for each cause of refusals. */
export function whyRefused(
  hours: readonly Hour[],
  days: number,
  { requestsPerMinute, requestsPerDay }: KeyView["limits"],
): readonly string[] {
  const about = (by: string, says: (refused: readonly Refused[]) => string) => {
    const refused = hours.flatMap(({ refusedMinutes }) =>
      refusedMinutes.flatMap(({ at, by: counts }) => (counts[by] ? [{ at, count: counts[by] }] : [])),
    );
    return refused.length === 0 ? [] : [says(refused)];
  };
  const on = (refused: readonly Refused[]) => `on ${countDays(refused)} of the last ${days} days`;
  return [
    ...about("minute", (refused) => {
      const most = formatNumber(Math.max(...refused.map(({ count }) => count)));
      const asked = mostAsked(hours, "minute", "2026-11-21T10".length);
      const fits = 60 * requestsPerMinute;
      const busiest = `The busiest of these hours asked for ${formatNumber(asked)} requests, retries included, and ${formatNumber(fits)} fit`;
      const helps =
        asked <= fits
          ? `${busiest}: a client that spreads its calls needs no larger limit.`
          : `${busiest}: to spread the calls is not enough. ${remedy(Math.ceil(asked / 60), MAX_REQUESTS_PER_MINUTE, "minute")}`;
      return `The limit per minute, now ${formatNumber(requestsPerMinute)}, was reached ${on(refused)}: ${wereRefused(refused)}, up to ${most} in a minute. ${helps}`;
    }),
    ...about("day", (refused) => {
      const asked = mostAsked(hours, "day", "2026-11-21".length);
      const [earliest] = refused.map(clockOf).sort();
      const helps =
        asked <= requestsPerDay
          ? "The limit of now is enough for that."
          : remedy(asked, MAX_REQUESTS_PER_DAY, "day");
      return `The limit per day, now ${formatNumber(requestsPerDay)}, was used up ${on(refused)}, at ${earliest} UTC at the earliest: ${wereRefused(refused)}. The busiest of these days asked for ${formatNumber(asked)} requests, retries included. ${helps}`;
    }),
    ...Object.values(CUSTOMER_WINDOWS).flatMap((name) =>
      about(
        name,
        (refused) =>
          `The customer's limit ${windowInWords(name)} was used up ${on(refused)}: ${wereRefused(refused)}. Other keys of the customer use it, too.`,
      ),
    ),
    ...about(
      "ban",
      (refused) =>
        `Bans refused ${counted(sumOf(refused), "request")} ${on(refused)}. After a 429 the client must wait as Retry-After says: if it goes on, it is banned.`,
    ),
  ];
}

/** Returns what the busiest hour or day with refusals by this limit asked for. */
function mostAsked(hours: readonly Hour[], by: string, chars: number): number {
  const periods = Map.groupBy(hours, ({ start }) => start.slice(0, chars));
  const asked = [...periods.values()].map((each) => {
    const refused = each.flatMap(({ refusedMinutes }) => refusedMinutes.map((minute) => minute.by[by] ?? 0));
    const sum = refused.reduce((a, b) => a + b, 0);
    return sum === 0 ? 0 : each.reduce((all, { admitted }) => all + admitted, sum);
  });
  return Math.max(...asked);
}

function remedy(needed: number, max: number, unit: string): string {
  if (needed > max) return `What helps: several keys, as a key has at most ${formatNumber(max)} a ${unit}.`;
  const limit = formatNumber(Math.min(max, roundUp(needed)));
  return `What helps: a limit of ${limit} a ${unit}, of a larger plan or of its own.`;
}

/** Rounds up to two digits: 1,234 becomes 1,300. */
function roundUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

function countDays(refused: readonly Refused[]): number {
  return new Set(refused.map(({ at }) => at.slice(0, "2026-11-21".length))).size;
}

function sumOf(refused: readonly Refused[]): number {
  return refused.reduce((sum, { count }) => sum + count, 0);
}

function wereRefused(refused: readonly Refused[]): string {
  return `${counted(sumOf(refused), "request was", "requests were")} refused`;
}

/** As in `15:42`. */
function clockOf({ at }: Refused): string {
  return at.slice("2026-11-21T".length, "2026-11-21T10:42".length);
}
