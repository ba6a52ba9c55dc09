/** Texts that operators write, such as the reason of a ban. */
import * as v from "valibot";
import { describe, it } from "vitest";
import { longText, mailAddress, shortText, soughtText } from "../../../src/worker/admin/http/text-schemas.ts";

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
    for (const text of ["a\u001b[31mb", "a\u202eb", "a\u2066b", "a\u0085b", "a\u2028b"])
      for (const problem of problemsOf(text)) expect(problem, text).toMatch(/^must not have control/);
    for (const text of [
      "👩\u200d💻 नमस्ते",
      "می\u200cخواهم",
      "東京\u3000太郎",
      "1\ufe0f\u20e3",
      "𠮷",
      "-",
      "\ue000",
    ])
      expect(problemsOf(text), text).toEqual([undefined, undefined]);
  });

  it("must have something that can be seen, and nothing that was lost on the way", ({ expect }) => {
    for (const text of [
      "\u200b",
      "\u2060\u00ad",
      "\u0301",
      "\u3164",
      "\u115f\u1160",
      "\u2800",
      "\u200d \ufe0f",
      "\u{e0041}",
      "\u180e",
      "\u{1d173}",
      "\u{1d159}",
    ])
      expect(problemsOf(text), text).toEqual(Array(2).fill("must have something that can be seen"));
    for (const text of ["a\ud800", "\udfff\ud800b", "Z\ufffd GmbH", "a\uffff"])
      expect(problemsOf(text)).toEqual(Array(2).fill("must not have broken characters"));
  });

  it("is stored in NFC, and searched in NFC", ({ expect }) => {
    for (const schema of [shortText(4), longText(4), soughtText])
      expect(v.parse(schema, "Zoe\u0308")).toBe("Zoë");
    expect(v.parse(mailAddress, "zoe\u0308@example.com")).toBe("zoë@example.com");
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

describe("an e-mail address", () => {
  it.for(["Ada@Example.COM", "o'neil+tag=x/y@mail.example.com", "用户@例子.广告", "root@localhost"])(
    "is %s",
    (address, { expect }) => {
      expect(v.parse(mailAddress, address)).toBe(address);
    },
  );

  it.for(["ada", "@example.com", "ada@", "a@b@c", "a b@example.com", "Ada <ada@example.com>"])(
    "is not %s",
    (address, { expect }) => {
      expect(v.safeParse(mailAddress, address).issues?.[0].message).toBe("must be an e-mail address");
    },
  );
});
