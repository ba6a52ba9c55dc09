/**
 * Numbers that a program may have rounded. Spreadsheets keep 15 digits, and programs that read each number as
 * a double (JavaScript, jq 1.6, R, Go into any) keep 53 bits. Pure.
 */

/** The numbers from which rounding makes another number. */
export type Range = { readonly from: bigint; readonly to: bigint };

/** Each program keeps as many digits. */
export const MAX_SAFE_DIGITS = 15;

/** From 2^53 on, several integers are one double. */
export function isBeyondDoubles(number: bigint): boolean {
  return number >= 2n ** 53n || number <= -(2n ** 53n);
}

/** Returns the numbers that a double holds as the same number. */
export function doubleRange(number: bigint): Range {
  const held = BigInt(Number(number));
  const half = halfStep(held);
  return { from: held - half, to: held + half };
}

/** Half the distance from a double to the next one. */
function halfStep(number: bigint): bigint {
  const exponent = number.toString(2).replace("-", "").length - 1;
  return exponent > 52 ? 2n ** BigInt(exponent - 53) : 0n;
}

/** Returns the numbers that a program may have rounded to this one. Undefined if no program rounds so. */
export function roundedFrom(number: bigint): Range | undefined {
  if (number < 0n) return mirrored(roundedFrom(-number));
  const unit = 10n ** BigInt(Math.max(0, number.toString().length - MAX_SAFE_DIGITS));
  if (unit === 1n || number % unit !== 0n) return isOfDouble(number) ? doubleRange(number) : undefined;
  // Some spreadsheets round a double, others put zeros after the 15th digit.
  const half = halfStep(number);
  return { from: number - unit / 2n - half, to: number + unit - 1n + half };
}

function mirrored(range: Range | undefined): Range | undefined {
  return range && { from: -range.to, to: -range.from };
}

/** Whether programs write a double from 2^53 on so: with its value, in the fewest digits, or in 17 digits. */
export function isOfDouble(number: bigint): boolean {
  if (!isBeyondDoubles(number)) return false;
  const held = BigInt(Number(number));
  if (held === number) return true;
  if (number < 0n) return isOfDouble(-number);
  const unit = 10n ** BigInt(Math.max(0, held.toString().length - 17));
  return [BigInt(String(Number(number))), ((held + unit / 2n) / unit) * unit].includes(number);
}
