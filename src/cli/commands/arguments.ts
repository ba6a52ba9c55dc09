/** Parsers for command-line arguments. Each throws commander's error, which ends in a usage message and exit code 2. */
import { InvalidArgumentError } from "commander";
import { isInt64 } from "../../worker/orders/int64.ts";
import { ArgumentsError } from "../admin-client.ts";

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** `90s`, `30m`, `24h` or `7d` as seconds. */
export function seconds(text: string): number {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  // The pattern matches only these units.
  const unit = match?.[2] as keyof typeof UNIT_SECONDS | undefined;
  if (unit === undefined) throw new InvalidArgumentError("Use a number and s, m, h or d, as in 24h.");
  return Number(match?.[1]) * UNIT_SECONDS[unit];
}

/** Zero needs no unit. */
export function secondsOrZero(text: string): number {
  return text === "0" ? 0 : seconds(text);
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Use a whole number.");
  return Number(text);
}

/** An id goes into a path unchanged. Any other text could address another route. */
export function idInPath(text: string): string {
  if (!/^[\w-]+$/.test(text)) throw new InvalidArgumentError("Use an id as the lists show it.");
  return text;
}

/** A whole number as text, for a query. */
export function digits(text: string): string {
  return String(wholeNumber(text));
}

/** An id of 64 bits, as text: a number would lose digits. */
export function int64(text: string): string {
  if (!isInt64(text)) throw new InvalidArgumentError("Use a whole number of 64 bits.");
  return text;
}

/** A limit, or `none` for no limit of its own. Not null, because commander takes null for a missing value. */
export type LimitArgument = number | "none";

export function limitOrNone(text: string): LimitArgument {
  return text === "none" ? "none" : wholeNumber(text);
}

/** Text, or `none` to remove it: an empty text, because commander takes null for a missing value. */
export function textOrNone(text: string): string {
  return text === "none" ? "" : text;
}

/** The members of a request body for the options that were given, with null for `none`. */
export function limitsBody(options: { perMinute?: LimitArgument; perDay?: LimitArgument }) {
  return {
    ...(options.perMinute === undefined ? {} : { requestsPerMinute: orNull(options.perMinute) }),
    ...(options.perDay === undefined ? {} : { requestsPerDay: orNull(options.perDay) }),
  };
}

function orNull(limit: LimitArgument): number | null {
  return limit === "none" ? null : limit;
}

/** Throws if no option gave a member of the body. */
export function requireChange(json: object): void {
  if (Object.keys(json).length === 0) throw new ArgumentsError("Nothing to change: give an option (--help).");
}
