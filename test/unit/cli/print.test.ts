import fc from "fast-check";
import { describe, it } from "vitest";
import { bar, facts, more, table } from "../../../src/cli/commands/print.ts";

describe("a bar", () => {
  it("is empty for nothing, full for the most and half as long for half of it", ({ expect }) => {
    expect([bar(0, 100), bar(0, 0), bar(5, 0)]).toEqual(["", "", ""]);
    expect(bar(100, 100)).toBe("█".repeat(40));
    expect(bar(50, 100)).toBe("█".repeat(20));
    expect(bar(1, 80)).toBe("▌");
    expect(bar(3, 80)).toBe("█▌");
  });

  it("shows any use at all, and is never shorter for more", ({ expect }) => {
    const halves = (text: string) => [...text].reduce((sum, char) => sum + (char === "█" ? 2 : 1), 0);
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (a, b, c) => {
        const [less = 0, middle = 0, most = 0] = [a, b, c].sort((x, y) => x - y);
        const [shorter, longer] = [halves(bar(less, most)), halves(bar(middle, most))];
        expect(shorter).toBeLessThanOrEqual(longer);
        expect(longer).toBeLessThanOrEqual(80);
        expect(longer > 0).toBe(middle > 0);
      }),
    );
  });
});

describe("a table", () => {
  it("has its columns below each other, and a dash for what is absent", ({ expect }) => {
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

  it("without rows says so", ({ expect }) => {
    expect(table(["id"], [])).toBe("Nothing to show.");
  });

  it("wraps long texts between words, and cuts no word however long it is", ({ expect }) => {
    const reason = `because ${"of the noise ".repeat(8)}${"x".repeat(70)}`;
    const printed = table(["key", "reason"], [["k", reason]]);
    expect(printed.split("\n").length).toBeGreaterThan(2);
    expect(printed.split(/\s+/).slice(3).join(" ")).toBe(reason);
    expect(printed).not.toContain("…");
  });

  it("that is wider than the terminal comes as one fact a line, a blank line between rows", ({ expect }) => {
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
  it("stand one a line behind their labels, further lines of one below its first", ({ expect }) => {
    expect(
      facts([
        ["id", 1],
        ["before", "a: 1\nb: 2"],
        ["x", undefined],
      ]),
    ).toBe("id      1\nbefore  a: 1\n        b: 2\nx       –");
  });
});

describe("the way to the next page", () => {
  it("is told only where there is one", ({ expect }) => {
    expect(more("--after", null)).toBe("");
    expect(more("--before", 7)).toBe("\nMore: --before 7");
  });
});
