/** What the console sends of a form, and what it does if others changed something meanwhile. */
import { describe, it } from "vitest";
import {
  changedMembers,
  lookBeforeChange,
  notShown,
  requireSame,
  requireShown,
  tryMembers,
} from "../../../src/pages/console/changes.ts";
import { Problem, type ProblemKind } from "../../../src/pages/console/problem.ts";

describe("a changed form", () => {
  it("sends only what was changed, also to null", ({ expect }) => {
    const before = { requestsPerMinute: 60, requestsPerDay: 1_000 };
    expect(
      changedMembers<Record<string, number | null>>(before, { ...before, requestsPerDay: null }),
    ).toEqual({ requestsPerDay: null });
    expect(changedMembers(before, { ...before })).toEqual({});
  });

  it("sends again what an earlier try may have changed", ({ expect }) => {
    const before = { requestsPerMinute: 60, requestsPerDay: 1_000 };
    expect(changedMembers(before, before, new Set(["requestsPerDay"]))).toEqual({ requestsPerDay: 1_000 });
  });

  it("has tried what a failed call sent, unless the service has refused it", async ({ expect }) => {
    const triedAfter = async (kind: ProblemKind) => {
      const tried = new Set<string>();
      const failed = Promise.reject(new Problem(kind, "It failed.", "Try again."));
      await expect(tryMembers(failed, { note: null }, tried)).rejects.toThrow("It failed.");
      return [...tried];
    };
    for (const kind of ["unreachable", "unavailable", "failed"] as const)
      expect(await triedAfter(kind)).toEqual(["note"]);
    for (const kind of ["invalid", "conflict", "not-found", "unauthorized"] as const)
      expect(await triedAfter(kind)).toEqual([]);
    const tried = new Set<string>();
    expect(await tryMembers(Promise.resolve("done"), { note: null }, tried)).toBe("done");
    expect(tried.size).toBe(0);
  });
});

describe("a dialog", () => {
  it("does nothing if what it shows was changed meanwhile", ({ expect }) => {
    const bans = (id: string) => [{ id, reason: null }];
    expect(() => requireSame(bans("ban_1"), bans("ban_2"))).toThrow("changed after the dialog was opened");
    expect(() => requireSame(bans("ban_1"), [])).toThrow(expect.objectContaining({ kind: "conflict" }));
    expect(() => requireSame(bans("ban_1"), bans("ban_1"))).not.toThrow();
    // The operator's own first try may have changed it.
    const advice = expect.stringMatching(
      /^Another operator did that, or an earlier try .* This try did noth/,
    );
    expect(() => requireSame(bans("ban_1"), [])).toThrow(expect.objectContaining({ advice }));
  });

  it("does nothing if it was left during its look, whatever that found", async ({ expect }) => {
    const leaving = new AbortController();
    const { signal } = leaving;
    expect(await lookBeforeChange(async () => "found", signal)).toBe("found");
    await expect(lookBeforeChange(() => Promise.reject(new Error("not found")), signal)).rejects.toThrow(
      "not found",
    );
    leaving.abort();
    for (const look of [async () => "found", () => Promise.reject(new Error("not found"))])
      await expect(lookBeforeChange(look, signal)).rejects.toBe(signal.reason);
  });

  it("does nothing to a ban that it did not show, also if it shows none yet", ({ expect }) => {
    const [shown, other] = [{ id: "ban_1" }, { id: "ban_2" }];
    const message = "The key has a ban that the dialog did not show at this try.";
    expect(() => requireShown([shown], [other])).toThrow(message);
    const advice = expect.stringMatching(/ or it was not loaded yet\. This try did nothing\./);
    expect(() => requireShown([], [shown])).toThrow(expect.objectContaining({ kind: "conflict", advice }));
    expect(() => requireShown([shown, other], [other])).not.toThrow();
    expect(() => requireShown([shown], [])).not.toThrow();
    expect(notShown([shown], [shown, other])).toEqual([other]);
  });
});
