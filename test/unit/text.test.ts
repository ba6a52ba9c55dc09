/** The forms in which texts are sought and compared. */
import { describe, it } from "vitest";
import { foldForSearch, repeated } from "../../src/worker/text/text.ts";

describe("a text is sought", () => {
  it.for([
    ...[
      ["zoe", "Zoë"],
      ["müller", "MÜLLER"],
      ["strasse", "Straße"],
      ["istanbul", "İSTANBUL"],
      ["ilgin", "ILGIN"],
    ],
    ...[
      ["ilgin", "ılgın"],
      ["σοφοσ", "ΣΟΦΟΣ"],
      ["αθηνα", "Αθήνα"],
      ["москва", "МОСКВА"],
      ["ada", "Ａｄａ"],
      ["lodz", "Łódź"],
      ["soren oelgaerd", "Søren Œlgærd"],
    ],
  ])("as %s if it is %s", ([sought, text], { expect }) => {
    expect(foldForSearch(text ?? "")).toBe(foldForSearch(sought ?? ""));
  });

  it("with the marks that are letters of their alphabet", ({ expect }) => {
    for (const text of ["राम", "が"]) expect(foldForSearch(text)).toBe(text);
  });
});

describe("a text of a client in an error", () => {
  it("keeps words, numbers and times", ({ expect }) => {
    for (const text of [
      "Größe in cm",
      "2026-11-21T10:00:00.000000000+01:00",
      "9".repeat(40),
      '{"a":"9007199254740993"}',
    ])
      expect(repeated(text, 60)).toBe(text);
  });

  it("has no secret, nor an end or a beginning of it", ({ expect }) => {
    for (const secret of [`sok_0${"aB3".repeat(15)}`, "t".repeat(32), `whsec_${"A/+=".repeat(8)}`])
      for (const text of [secret, `"${secret}"`, `{"a":"${secret}"}`, `${"x ".repeat(25)}${secret}`]) {
        expect(repeated(text, 60)).not.toContain(secret.slice(0, 8));
        expect(repeated(text, 60)).not.toContain(secret.slice(-8));
      }
  });

  it("is cut, and has no characters that change what a terminal shows", ({ expect }) => {
    expect(repeated("ab ".repeat(100), 10)).toBe("ab ab ab a…");
    expect(repeated("\u001b[2J\u202ea\nb", 60)).toBe("?[2J?a?b");
  });
});
