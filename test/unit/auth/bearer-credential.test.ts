/** The credential of an Authorization header. */
import { describe, it } from "vitest";
import { bearerCredential } from "../../../src/worker/text/bearer.ts";

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
});
