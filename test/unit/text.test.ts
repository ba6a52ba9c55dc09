/** The forms in which texts are sought and compared. */
import { describe, it } from "vitest";
import { foldCase, foldForSearch } from "../../src/worker/text/text.ts";

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
    ],
  ])("as %s if it is %s", ([sought, text], { expect }) => {
    expect(foldForSearch(text ?? "")).toBe(foldForSearch(sought ?? ""));
  });

  it("with the marks that are letters of their alphabet", ({ expect }) => {
    for (const text of ["राम", "が"]) expect(foldForSearch(text)).toBe(text);
  });
});

describe("an owner", () => {
  it("is one in any case", ({ expect }) => {
    for (const texts of [
      ["ada@example.com", "Ada@Example.COM"],
      ["Zoë", "ZOE\u0308"],
      ["Straße", "STRASSE"],
      ["Σοφός", "ΣΟΦΌΣ"],
      ["İnci", "inci"],
    ])
      expect(new Set(texts.map(foldCase)), texts.join()).toHaveProperty("size", 1);
  });

  it("is another with an accent", ({ expect }) => {
    expect(foldCase("Zoë")).not.toBe(foldCase("Zoe"));
  });
});
