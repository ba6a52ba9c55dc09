/** The credential of an Authorization header. */
import { describe, it } from "vitest";
import { bearerCredential, MAX_BLANKS } from "../../../src/worker/auth/bearer-credential.ts";

describe("a bearer credential", () => {
  it.for<[string | undefined, string | undefined]>([
    ["Bearer abc", "abc"],
    ["bEARER  abc", "abc"],
    ["Bearer abc def", "abc def"],
    ["Bearer", undefined],
    ["Bearer\tabc", undefined],
    ["Basic abc", undefined],
    [undefined, undefined],
  ])("of %j is %j", ([header, credential], { expect }) => {
    expect(bearerCredential(header)).toBe(credential);
  });

  it("has few blanks before it", ({ expect }) => {
    expect(bearerCredential(`Bearer${" ".repeat(MAX_BLANKS)}abc`)).toBe("abc");
    expect(bearerCredential(`Bearer${" ".repeat(MAX_BLANKS + 1)}abc`)).toBeUndefined();
  });
});
