/**
 * Numbers that a program may have rounded, judged from their file alone. Spreadsheets keep 15 digits, and programs
 * that read each number as a double (JavaScript, jq 1.6, R, Go into any) keep 53 bits. Pure.
 */

const SAFE_DIGITS = 15;
const FIRST_BEYOND = 2n ** 53n;
/** A few numbers may be such numbers by chance. */
const MIN_ROUNDED = 5;

/** Whether some programs do not hold the number. */
export function isLong(digits: string): boolean {
  return digits.replace("-", "").length > SAFE_DIGITS;
}

/** From 2^53 on, several integers are one double. */
export function isBeyondDoubles(number: bigint): boolean {
  return number >= FIRST_BEYOND || number <= -FIRST_BEYOND;
}

/** Whether all long numbers, or all beyond doubles, are numbers that a program writes, and at least five. */
export function areRounded(long: Iterable<bigint>): boolean {
  const different = [...new Set(long)];
  const areAll = (numbers: readonly bigint[], isWritten: (number: bigint) => boolean) =>
    numbers.length >= MIN_ROUNDED && numbers.every(isWritten);
  return areAll(different, isOfSafeDigits) || areAll(different.filter(isBeyondDoubles), isOfDouble);
}

/** Whether only zeros follow the digits that a spreadsheet keeps. */
export function isOfSafeDigits(number: bigint): boolean {
  return /^0*$/.test(String(number).replace("-", "").slice(SAFE_DIGITS));
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
