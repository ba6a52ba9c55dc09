/** Keys as text of the command line. */
import { describe, it } from "vitest";
import { type Key, nameOf } from "../../../src/cli/commands/key-text.ts";

describe("a key in a question", () => {
  const named = (use: Pick<Key, "firstUsedAt" | "lastUsedDay">) =>
    // The members that a question has.
    nameOf({ id: "key_1", name: "acme", plan: "pro", ...use } as Key);

  it("was never used only if it has no first use: its usage may be deleted or not reported yet", ({
    expect,
  }) => {
    const firstUsedAt = "2026-11-21T14:58:47Z";
    expect(named({ firstUsedAt: null, lastUsedDay: null })).toBe("Key key_1 (acme, plan pro, never used)");
    expect(named({ firstUsedAt, lastUsedDay: null })).toContain("first used 2026-11-21T14:58:47Z)");
    expect(named({ firstUsedAt, lastUsedDay: "2026-11-22" })).toContain("last used 2026-11-22)");
  });
});
