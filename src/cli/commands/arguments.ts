/** Parsers for command-line arguments. Each throws commander's error, which ends in a usage message and exit code 2. */
import { InvalidArgumentError } from "commander";
import { hasAdminToken } from "../../worker/admin/admin-token.ts";
import { hasKey } from "../../worker/auth/key-format.ts";
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

/** A timer of Node.js takes at most 2³¹ - 1 ms, 24.8 days, and ends after 1 ms if it is longer. */
const MAX_WAIT_SECONDS = 24 * UNIT_SECONDS.d;

/** A duration to wait for. */
export function waitSeconds(text: string): number {
  const duration = seconds(text);
  if (duration >= 1 && duration <= MAX_WAIT_SECONDS) return duration;
  throw new InvalidArgumentError("Use a duration from 1s to 24d.");
}

const MOMENT = /^(?:(\d{4}-\d\d-\d\d)[T ])?(\d?\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/i;
const DAY_MS = 86_400_000;

/** The last `10:42`, or a date and time, as an RFC 3339 date-time; UTC unless it has an offset. */
export function moment(text: string): string {
  const [, date, hourAndMinute, second = ":00", offset = "Z"] = MOMENT.exec(text) ?? [];
  if (hourAndMinute === undefined) {
    throw new InvalidArgumentError("Use a time, as in 10:42 or 2026-11-21T10:42.");
  }
  const time = hourAndMinute.padStart("10:42".length, "0");
  const on = (day: string) => `${day}T${time}${second}${offset}`;
  const ms = Date.parse(on(date ?? "1970-01-01"));
  if (Number.isNaN(ms)) throw new InvalidArgumentError("This time does not exist.");
  if (date !== undefined) return on(date);
  const days = Math.floor((Date.now() - ms) / DAY_MS);
  return on(new Date(days * DAY_MS).toISOString().slice(0, 10));
}

/** A date, which begins at 0:00 UTC, or what `moment` takes. */
export function dateOrMoment(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? text : moment(text);
}

/** Zero needs no unit. */
export function secondsOrZero(text: string): number {
  return text === "0" ? 0 : seconds(text);
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Use a whole number.");
  return Number(text);
}

/** A parser of a number from 1 to `max`. */
export function numberUpTo(max: number): (text: string) => number {
  return (text) => {
    const number = wholeNumber(text);
    if (number >= 1 && number <= max) return number;
    throw new InvalidArgumentError(`Use a number from 1 to ${max}.`);
  };
}

const KEY_ARGUMENT =
  "What looks like a secret, or a part of one, must not be an argument: `keys find` reads it from standard input, --hint takes its last 4 to 12 characters.";

/** An argument can become a part of an address, which logs keep. The messages do not repeat it. */
export function refuseKeys(argv: readonly string[]): void {
  if (argv.some(hasKey)) throw new ArgumentsError(KEY_ARGUMENT);
}

/** As `refuseKeys`, of the admin token, or a credential for Cloudflare Access. */
export function refuseCredential(argv: readonly string[], credential: string | undefined): void {
  if (!argv.some((text) => hasAdminToken(text, credential))) return;
  throw new ArgumentsError(
    "The admin token, a credential for Cloudflare Access, or a part of one, must not be an argument.",
  );
}

/**
 * An id, a date, or what is searched by, and no key without `sok_`: most of these become a part of an address. Other arguments,
 * such as a note or a cursor, may look like one.
 */
export function textInAddress(text: string): string {
  if (hasKey(text)) throw new ArgumentsError(KEY_ARGUMENT);
  return text;
}

/** An id goes into a path unchanged. Any other text could address another route. */
export function idInPath(text: string): string {
  textInAddress(text);
  if (!/^[\w-]+$/.test(text)) throw new InvalidArgumentError("Use an id as the lists show it.");
  return text;
}

/** A whole number as text, for a query. */
export function digits(text: string): string {
  return String(wholeNumber(text));
}

/** npm takes `--before` without a trace, so every list goes on with `--after`. */
export function beforeQuery(after: string | undefined): { before?: string } {
  return after === undefined ? {} : { before: after };
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
