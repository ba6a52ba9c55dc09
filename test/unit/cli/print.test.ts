/** Tables, CSV, lists of labelled values and bars as text. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { csv } from "../../../src/cli/commands/csv.ts";
import { bar as barOf, facts, widest } from "../../../src/cli/commands/print.ts";
import { type Column, table } from "../../../src/cli/commands/table.ts";

const bar = (value: number, max: number) => barOf(value, max, 40);
const columns = (...labels: string[]): Column[] => labels.map((label) => ({ label }));

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
  it("aligns its columns, and shows a dash for an absent value", async ({ expect }) => {
    expect(
      await table(columns("id", "a day"), [
        ["key_1", 1_000],
        ["k", null],
      ]),
    ).toBe("id     a day\nkey_1  1000\nk      –");
  });

  it("is one sentence if it has no rows", async ({ expect }) => {
    expect(await table(columns("id"), [])).toBe("Nothing to show.");
  });

  it("wraps long texts between words, and never cuts a word", async ({ expect }) => {
    const reason = `because ${"of the noise ".repeat(8)}${"x".repeat(70)}`;
    const printed = await table(columns("key", "reason"), [["k", reason]]);
    expect(printed.split("\n").length).toBeGreaterThan(2);
    expect(printed.split(/\s+/).slice(3).join(" ")).toBe(reason);
    expect(printed).not.toContain("…");
  });

  it("that is wider than the terminal becomes labelled values, with a blank line between rows", async ({
    expect,
  }) => {
    const rows = [
      ["key_1", "a name"],
      ["key_2", null],
    ];
    expect(await table(columns("id", "the name"), rows, 15)).toBe("id     the name\nkey_1  a name\nkey_2  –");
    expect(await table(columns("id", "the name"), rows, 14)).toBe(
      "id        key_1\nthe name  a name\n\nid        key_2\nthe name  –",
    );
  });
});

describe("a table with full-width text, which takes two columns for a character", () => {
  const name = "株式会社東京支店営業部門一";

  it("aligns its columns, and cuts nothing", async ({ expect }) => {
    expect(
      await table(columns("name", "plan"), [
        [name, "free"],
        ["e\u0301té", "pro"],
      ]),
    ).toBe(`name                        plan\n${name}  free\ne\u0301té                         pro`);
  });

  it("wraps a long text also at ideographic spaces", async ({ expect }) => {
    const words = "東京　".repeat(20).trim().split("　");
    const printed = await table(columns("key", "reason"), [["k", words.join("　")]]);
    expect(printed.split("\n").length).toBeGreaterThan(2);
    expect(printed.split(/\s+/).slice(3)).toEqual(words);
  });

  it("loses no word of lines that begin with blanks", async ({ expect }) => {
    const blanks = fc.string({ unit: fc.constantFrom(" ", "\u3000"), maxLength: 12 });
    const words = fc.array(fc.string({ unit: fc.constantFrom("a", "鍵"), minLength: 1, maxLength: 9 }), {
      maxLength: 6,
    });
    const line = fc.tuple(blanks, words).map(([indent, all]) => `${indent}${all.join(" ")}`);
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
        const printed = await table(columns("key", "note"), [["k", lines.join("\n")]]);
        expect(printed.replace(/^key\s+note\s+k/, "").replace(/\s/g, "")).toBe(
          lines.join("").replace(/\s/g, ""),
        );
      }),
    );
  });

  it("measures any text as cli-table3 does, which would cut what is wider than its column", async ({
    expect,
  }) => {
    const text = fc.string({ unit: "grapheme", maxLength: 60 }).filter((each) => !each.includes("…"));
    await fc.assert(
      fc.asyncProperty(text, text, async (first, second) => {
        expect(await table(columns("a", "b"), [[first, second]])).not.toContain("…");
      }),
    );
  });
});

describe("a table of many rows", () => {
  const list: Column[] = [{ label: "id" }, { label: "", isBar: true }];
  const rowsOf = (count: number) => Array.from({ length: count }, (_, i) => [i, i + 1]);

  it("has its labels once, the same columns in each row, and bars in proportion to the highest of all", async ({
    expect,
  }) => {
    const lines = (await table(list, rowsOf(1_000))).split("\n");
    expect(lines).toHaveLength(1_001);
    expect(lines[0]).toBe("id");
    for (const [i, line] of lines.slice(1).entries()) {
      expect(line).toBe(`${String(i).padEnd(5)}${bar(i + 1, 1_000)}`);
    }
    const narrow = await table(columns("id", "the name"), rowsOf(250), 5);
    expect(narrow.split("\n\n")).toEqual(
      rowsOf(250).map(([id, name]) => `id        ${id}\nthe name  ${name}`),
    );
  });

  it("leaves time for signals while it is drawn, and is not drawn further after one", async ({ expect }) => {
    for (const width of [undefined, 1]) {
      const interruption = new AbortController();
      setImmediate(() => interruption.abort());
      await expect(table(list, rowsOf(10_000), width, interruption.signal)).rejects.toThrow("aborted");
    }
  });

  it("can have more rows than a call has arguments", async ({ expect }) => {
    const interruption = new AbortController();
    setImmediate(() => interruption.abort());
    await expect(table(list, rowsOf(150_000), undefined, interruption.signal)).rejects.toThrow("aborted");
  });
});

describe("the widest line", () => {
  it("is found among any number of texts", ({ expect }) => {
    expect(widest(["a\nbcd", ""])).toBe(3);
    expect(widest(["東京", "abc"])).toBe(4);
    expect(widest(Array.from({ length: 300_000 }, () => "ab"))).toBe(2);
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

const KEY = "key_01a1fe9df77cb389ae6586af3e34e223";

describe("a table that is wider than the terminal", () => {
  const list: Column[] = [
    { label: "id" },
    { label: "name", min: 8 },
    { label: "plan", drop: 1 },
    { label: "secrets", drop: 2 },
    { label: "", min: 8, isBar: true },
  ];
  const rows = [
    [KEY, "a name of several words", "enterprise", "sok_ab…cdef", 10],
    [KEY, "short", "free", "sok_ab…cdef", 5],
  ];
  const widthOf = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

  it("first narrows columns, then leaves columns out and says which", async ({ expect }) => {
    expect((await table(list, rows)).split("\n")[1]).toBe(
      `${KEY}  a name of several words  enterprise  sok_ab…cdef  ${"█".repeat(40)}`,
    );
    const narrow = await table(list, rows, 100);
    expect(narrow).toContain("sok_ab…cdef");
    expect(narrow).toMatch(/█{8,}/);
    const narrower = await table(list, rows, 80);
    expect(narrower).toMatch(/^\(not shown at this width: secrets; --csv shows all\)$/m);
    expect(narrower).toContain(KEY);
    expect(widthOf(narrower)).toBeLessThanOrEqual(80);
    expect(await table(list, rows, 60)).toMatch(
      /^\(not shown at this width: plan, secrets; --csv shows all\)$/m,
    );
    expect(await table(list, rows, 40)).toContain("\n\n");
  });

  it("never exceeds the width while its columns fit, and keeps bars in proportion", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 57, max: 200 }), async (width) => {
        const lines = (await table(list, rows, width)).split("\n");
        const [first = 0, second = 0] = lines
          .map((line) => line.match(/█/g)?.length ?? 0)
          .filter((count) => count > 0);
        expect(widthOf(lines.filter((line) => !line.startsWith("(not")).join("\n"))).toBeLessThanOrEqual(
          width,
        );
        expect(first).toBeGreaterThanOrEqual(8);
        expect(Math.abs(first - 2 * second)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe("CSV", () => {
  it("has every column but bars, quotes as RFC 4180 says, and no formulas", ({ expect }) => {
    const head: Column[] = [{ label: "id", drop: 1 }, { label: "the, name" }, { label: "", isBar: true }];
    expect(
      csv(head, [
        [1, 'a "b"', 9],
        [-2, null, 0],
        [3, "=1+1", 0],
      ]),
    ).toBe('id,"the, name"\n1,"a ""b"""\n-2,\n3,\'=1+1');
    expect(csv(head, [])).toBe('id,"the, name"');
  });
});
