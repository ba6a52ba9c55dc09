/** What the documentation page makes of a pasted API key. */
import { describe, it } from "vitest";
import { checkKey } from "../../../src/pages/docs/key-check.ts";
import { maskKey, mintKey } from "../../../src/worker/auth/key-format.ts";

const key = mintKey((count) => new Uint8Array(count).fill(7));
const problemOf = (text: string) => {
  const checked = checkKey(text);
  return "problem" in checked ? checked.problem : undefined;
};

describe("a pasted key", () => {
  it("is found in the header, the assignment or the quotes that surround it", ({ expect }) => {
    for (const text of [
      key,
      `  ${key}\n`,
      `Bearer ${key}`,
      `bearer   ${key}`,
      `Authorization: Bearer ${key}`,
      `-H "Authorization: Bearer ${key}"`,
      `"${key}"`,
      `export KEY=${key}`,
      `KEY="${key}"`,
      `$env:KEY = "${key}"`,
      `${key.slice(0, 20)}\n${key.slice(20)}`,
    ]) {
      expect(checkKey(text), text).toEqual({ key });
    }
  });

  it("is refused with a sentence that says what is wrong", ({ expect }) => {
    const otherEnd = key.endsWith("x") ? "y" : "x";
    expect(problemOf("")).toBe("Enter your API key.");
    expect(problemOf("Bearer ")).toBe("Enter your API key.");
    expect(problemOf(maskKey(key))).toMatch(/^This is a masked key/);
    expect(problemOf("sok_Ab...9xYz")).toMatch(/^This is a masked key/);
    expect(problemOf("sok_Ab••••9xYz")).toMatch(/^This is a masked key/);
    expect(problemOf("an-admin-token-for-the-tests-only")).toMatch(/begins with sok_\.$/);
    expect(problemOf(key.slice(0, -1))).toBe(
      "An API key has 42 characters, and this text has 41. Copy the whole key.",
    );
    expect(problemOf(`${key.slice(0, -1)}é`)).toMatch(/only the letters/);
    expect(problemOf(`${key.slice(0, -1)}_`)).toMatch(/only the letters/);
    expect(problemOf(key.slice(0, -1) + otherEnd)).toMatch(/its checksum does not match/);
  });

  it("never has its own text in the sentence", ({ expect }) => {
    expect(problemOf(key.slice(0, 41))).not.toContain(key.slice(4, 12));
  });
});
