/** Texts that operators write, such as the reason of a ban, must show something. */
import * as v from "valibot";
import { describe, it } from "vitest";
import { longText, shortText } from "../../../src/worker/admin/routes/text-schemas.ts";

const problemsOf = (text: string) =>
  [shortText(100), longText(100)].map((schema) => v.safeParse(schema, text).issues?.[0].message);

describe("a text of an operator", () => {
  it("must not consist of characters that show nothing", ({ expect }) => {
    for (const text of [
      "",
      " ",
      "\u200b",
      "\u200b \u2060",
      "\u00ad",
      "\u3164",
      "\u2800",
      "\ufe0f",
      "\u{e0041}",
    ]) {
      expect(problemsOf(text), JSON.stringify(text)).toEqual(["must not be empty", "must not be empty"]);
    }
  });

  it("may have them beside others", ({ expect }) => {
    for (const text of ["a\u200bb", "👩\u200d💻", "❤\ufe0f", "नमस्ते", "한글", "⠓⠑", "…", "$"]) {
      expect(problemsOf(text), text).toEqual([undefined, undefined]);
    }
  });
});
