/** Texts of any code points, many control or bidirectional. fast-check's own unit takes 2 s to build. */
import fc from "fast-check";

const codePoint = fc.oneof(
  fc.integer({ min: 0, max: 0x9f }),
  fc.integer({ min: 0x2000, max: 0x20ff }),
  fc.integer({ min: 0, max: 0x10ffff }),
);

export const anyText = fc.string({
  unit: codePoint.map((code) => String.fromCodePoint(code)),
  maxLength: 100,
});
