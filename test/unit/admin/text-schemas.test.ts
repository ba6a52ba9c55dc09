/** Texts that operators write, such as the reason of a ban. */
import * as v from "valibot";
import { describe, it } from "vitest";
import { longText, shortText } from "../../../src/worker/admin/http/text-schemas.ts";

const problemsOf = (text: string) =>
  [shortText(100), longText(100)].map((schema) => v.safeParse(schema, text).issues?.[0].message);

describe("a text of an operator", () => {
  it("is trimmed, and must not be empty or too long", ({ expect }) => {
    expect(v.parse(shortText(3), " abc ")).toBe("abc");
    expect(v.parse(longText(5), "\r\na\r\nb\n")).toBe("a\nb");
    expect(problemsOf(" \n")).toEqual(Array(2).fill("must not be empty"));
    expect(problemsOf("x".repeat(101))).toEqual(Array(2).fill("must have at most 100 characters"));
  });

  it("must not have what changes how a terminal or a page shows it", ({ expect }) => {
    for (const text of ["a\u001b[31mb", "a\u202eb", "a\ud800"]) {
      for (const problem of problemsOf(text)) expect(problem, text).toMatch(/^must not have control/);
    }
    expect(problemsOf("👩\u200d💻 नमस्ते")).toEqual([undefined, undefined]);
  });

  it("must not contain an API key, and may contain a masked one, links and hashes", ({ expect }) => {
    for (const text of ["sok_egBoqJXz", "leaked: sok_egBoqJXzCCpCTC8pW3kYf0uVd7sLh2nRxqyhjA."]) {
      expect(problemsOf(text)).toEqual(Array(2).fill("must not contain an API key"));
    }
    for (const text of [
      "sok_eg…yhjA",
      "https://github.com/acme/x/commit/2f0dee58af3a9cc6ba7cbde9dd55e9dba37bb1a2",
      "https://docs.google.com/document/d/1aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA",
    ]) {
      expect(problemsOf(text)).toEqual([undefined, undefined]);
    }
  });
});
