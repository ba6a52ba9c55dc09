/**
 * Ids that a program may have rounded. Spreadsheets keep 15 digits, and programs that read each number as a
 * double (JavaScript, jq 1.6, R, Go into any) keep 53 bits. Pure.
 */

/** The numbers from which rounding makes another number. */
export type Range = { readonly from: bigint; readonly to: bigint };

/** Each program keeps as many digits. */
export const MAX_SAFE_DIGITS = 15;
const MAX = 2n ** 63n - 1n;

/** From 2^53 on, several integers are one double. */
export function isBeyondDoubles(digits: string): boolean {
  return digits.length > MAX_SAFE_DIGITS && magnitude(digits) >= 2n ** 53n;
}

/** Returns the numbers that a double holds as the same number. */
export function doubleRange(digits: string): Range {
  const held = BigInt(Number(magnitude(digits)));
  return signed(digits, held - halfStep(held), held + halfStep(held));
}

/** Half the distance from a double to the next one. */
function halfStep(held: bigint): bigint {
  const exponent = held.toString(2).length - 1;
  return exponent > 52 ? 2n ** BigInt(exponent - 53) : 0n;
}

/** Returns the numbers that a program may have rounded to this one. Undefined if no program rounds so. */
export function roundedFrom(digits: string): Range | undefined {
  if (digits.length <= MAX_SAFE_DIGITS) return undefined;
  const number = magnitude(digits);
  const unit = 10n ** BigInt(Math.max(0, number.toString().length - MAX_SAFE_DIGITS));
  if (unit === 1n || number % unit !== 0n) return isOfDouble(digits) ? doubleRange(digits) : undefined;
  // Some spreadsheets round a double, others put zeros after the 15th digit.
  const half = halfStep(number);
  return signed(digits, number - unit / 2n - half, number + unit - 1n + half);
}

/** Whether programs write a double from 2^53 on so: with its value, in the fewest digits, or in 17 digits. */
export function isOfDouble(digits: string): boolean {
  if (!isBeyondDoubles(digits)) return false;
  const number = magnitude(digits);
  const double = Number(number);
  const held = BigInt(double);
  const unit = 10n ** BigInt(Math.max(0, held.toString().length - 17));
  return [held, BigInt(String(double)), ((held + unit / 2n) / unit) * unit].includes(number);
}

function magnitude(digits: string): bigint {
  return BigInt(digits.replace("-", ""));
}

function signed(digits: string, from: bigint, to: bigint): Range {
  const last = to > MAX ? MAX : to;
  return digits.startsWith("-") ? { from: -last, to: -from } : { from, to: last };
}
