/** isInt64 against BigInt. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { isInt64 } from "../../../src/worker/text/int64.ts";

/** A second definition: BigInt parses the text, the value fits, and its text is the same. */
function isInt64ByBigInt(text: string): boolean {
  try {
    const value = BigInt(text);
    return BigInt.asIntN(64, value) === value && String(value) === text;
  } catch {
    return false;
  }
}

const nearBounds = fc
  .tuple(
    fc.constantFrom(0n, 2n ** 53n, -(2n ** 53n), 2n ** 63n, -(2n ** 63n), 2n ** 64n, 10n ** 18n, 10n ** 19n),
    fc.bigInt({ min: -20n, max: 20n }),
  )
  .map(([bound, offset]) => bound + offset);

describe("an int64 as text", () => {
  it("is accepted for every number that fits and refused for every other", ({ expect }) => {
    fc.assert(
      fc.property(fc.oneof(nearBounds, fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n })), (value) => {
        expect(isInt64(String(value))).toBe(BigInt.asIntN(64, value) === value);
      }),
      { numRuns: 2000 },
    );
  });

  it("agrees with BigInt on arbitrary text of digits, signs and separators", ({ expect }) => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789-+ .eExnab_,\t\n٣"), maxLength: 24 });
    fc.assert(
      fc.property(fc.oneof(digits, fc.string()), (text) => {
        expect(isInt64(text)).toBe(isInt64ByBigInt(text));
      }),
      { numRuns: 5000, examples: [["-0"], ["+1"], ["007"], ["1\n"], ["1e3"], ["0x1"], ["1n"], ["١"]] },
    );
  });
});
