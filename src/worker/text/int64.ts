/** Signed 64-bit integers as decimal text. Pure. */

const CANONICAL = /^(?:0|-?[1-9][0-9]{0,18})$/;
const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** Whether the text is an int64 in canonical form: no plus sign, no leading zero, no `-0`, no exponent. */
export function isInt64(text: string): boolean {
  if (!CANONICAL.test(text)) return false;
  const value = BigInt(text);
  return value >= MIN && value <= MAX;
}
