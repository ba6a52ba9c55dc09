/** Text from outside that is printed: control and bidirectional characters, and its length. */
import fc from "fast-check";
import * as v from "valibot";
import { describe, it } from "vitest";
import { facts } from "../../../src/cli/commands/print.ts";
import { table } from "../../../src/cli/commands/table.ts";
import { printable, printableData, shortened } from "../../../src/cli/printable.ts";
import { longText } from "../../../src/worker/admin/routes/text-schemas.ts";
import { anyText } from "../../support/any-text.ts";

const UNSAFE = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;

describe("printable text", () => {
  it("has no control or bidirectional character, and JSON stays the same value", ({ expect }) => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(printable(text)).not.toMatch(UNSAFE);
        expect(JSON.parse(printable(JSON.stringify(text)))).toBe(text);
        expect(printable(printable(text))).toBe(printable(text));
      }),
    );
    expect(printable("\u001b[31m\u202e\u{e0041}\r")).toBe("\\u001b[31m\\u202e\\udb40\\udc41\\u000d");
    expect(printable("Zoë 日本 😀\n–")).toBe("Zoë 日本 😀\n–");
  });

  it("is as data all that the admin API stores, and shows no other control characters", ({ expect }) => {
    fc.assert(
      fc.property(anyText, (text) => {
        const stored = v.safeParse(longText(10_000), text);
        if (stored.success) expect(printableData(stored.output)).toBe(stored.output);
        expect(printableData(text)).not.toMatch(UNSAFE);
      }),
    );
    const joined = "می\u200cخواهم 👩\u200d💻 co\u00adop";
    expect(printableData(joined)).toBe(joined);
    expect(printableData("\u001b[31m\u202e\r\u200f")).toBe("\\u001b[31m\\u202e\\u000d\\u200f");
  });

  it("is what tables and labelled values show", async ({ expect }) => {
    expect(await table([{ label: "name" }], [["a\u001b]0;title\u0007"]])).toBe(
      "name\na\\u001b]0;title\\u0007",
    );
    expect(facts([["name", "a\u009b2J"]])).toBe("name  a\\u009b2J");
  });
});

describe("a shortened text", () => {
  it("is one line that ends with an ellipsis where it was cut", ({ expect }) => {
    expect([shortened("abc", 3), shortened("abcd", 3), shortened("a\nb", 9)]).toEqual([
      "abc",
      "ab…",
      "a\\nb",
    ]);
  });
});
