/** Tables, lists of labelled values and bars as text. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { bar, facts, more, table } from "../../../src/cli/commands/print.ts";

describe("a bar", () => {
  it("is empty for 0, full for the maximum and half as long for half of it", ({ expect }) => {
    expect([bar(0, 100), bar(0, 0), bar(5, 0)]).toEqual(["", "", ""]);
    expect(bar(100, 100)).toBe("█".repeat(40));
    expect(bar(50, 100)).toBe("█".repeat(20));
    expect(bar(1, 80)).toBe("▌");
    expect(bar(3, 80)).toBe("█▌");
  });

  it("is visible for any value above 0, and never shorter for a higher value", ({ expect }) => {
    const halves = (text: string) => [...text].reduce((sum, char) => sum + (char === "█" ? 2 : 1), 0);
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (a, b, c) => {
        const [low = 0, middle = 0, high = 0] = [a, b, c].sort((x, y) => x - y);
        const [shorter, longer] = [halves(bar(low, high)), halves(bar(middle, high))];
        expect(shorter).toBeLessThanOrEqual(longer);
        expect(longer).toBeLessThanOrEqual(80);
        expect(longer > 0).toBe(middle > 0);
      }),
    );
  });
});

describe("a table", () => {
  it("aligns its columns, and shows a dash for an absent value", ({ expect }) => {
    expect(
      table(
        ["id", "a day"],
        [
          ["key_1", 1_000],
          ["k", null],
        ],
      ),
    ).toBe("id     a day\nkey_1  1000\nk      –");
  });

  it("is one sentence if it has no rows", ({ expect }) => {
    expect(table(["id"], [])).toBe("Nothing to show.");
  });

  it("wraps long texts between words, and never cuts a word", ({ expect }) => {
    const reason = `because ${"of the noise ".repeat(8)}${"x".repeat(70)}`;
    const printed = table(["key", "reason"], [["k", reason]]);
    expect(printed.split("\n").length).toBeGreaterThan(2);
    expect(printed.split(/\s+/).slice(3).join(" ")).toBe(reason);
    expect(printed).not.toContain("…");
  });

  it("that is wider than the terminal becomes labelled values, with a blank line between rows", ({
    expect,
  }) => {
    const rows = [
      ["key_1", "a name"],
      ["key_2", null],
    ];
    expect(table(["id", "the name"], rows, 15)).toBe("id     the name\nkey_1  a name\nkey_2  –");
    expect(table(["id", "the name"], rows, 14)).toBe(
      "id        key_1\nthe name  a name\n\nid        key_2\nthe name  –",
    );
  });
});

describe("facts", () => {
  it("have one line each after their label, and further lines are indented", ({ expect }) => {
    expect(
      facts([
        ["id", 1],
        ["before", "a: 1\nb: 2"],
        ["x", undefined],
      ]),
    ).toBe("id      1\nbefore  a: 1\n        b: 2\nx       –");
  });
});

describe("the option for the next page", () => {
  it("is shown only if there is one", ({ expect }) => {
    expect(more("--after", null)).toBe("");
    expect(more("--before", 7)).toBe("\nMore: --before 7");
  });
});
