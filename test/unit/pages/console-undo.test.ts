/** The console's undoing of an import, against an admin API that answers in parts. */
import { afterEach, describe, it, vi } from "vitest";
import { adminClient } from "../../../src/pages/console/admin-client.ts";
import type { UndoAnswer } from "../../../src/pages/console/api-types.ts";
import { undoImport, undoneText } from "../../../src/pages/console/orders/undo-import.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** An answer of which only these members are read. */
function answer(isComplete: boolean, leftAlone: readonly string[], total: number): UndoAnswer {
  const undone = { at: "2026-11-22T00:00:00Z", deleted: 1, restored: 0, leftAlone: total };
  return { import: { id: "imp_1", undone }, isComplete, leftAlone } as UndoAnswer;
}

const client = adminClient({ token: "a token", operator: "" });

describe("undoing an import", () => {
  it("goes on until it is complete, and does not announce success alone", async ({ expect }) => {
    const answers = [answer(false, [], 2), answer(false, [], 2), answer(true, ["1", "2", "7"], 3)];
    vi.stubGlobal("fetch", async () => Response.json(answers.shift()));
    const undone = await undoImport(client, "imp_1", new AbortController().signal);
    expect(undone.leftAlone).toEqual(["1", "2", "7"]);
    expect(undoneText(undone)).toBe("The import is undone, but 3 orders are left alone.");
    expect(undoneText(answer(true, ["1"], 1))).toBe("The import is undone, but 1 order is left alone.");
    expect(undoneText(answer(true, [], 0))).toBe("The import is undone.");
  });

  it("does not say that nothing was changed if a later call is refused", async ({ expect }) => {
    const refusal = Response.json({ message: "It is no longer known." }, { status: 409 });
    const answers = [Response.json(answer(false, [], 0)), refusal];
    vi.stubGlobal("fetch", async () => answers.shift());
    await expect(undoImport(client, "imp_1", new AbortController().signal)).rejects.toMatchObject({
      message: "It is no longer known.",
      advice: expect.not.stringContaining("Nothing was changed"),
    });
  });

  it("stops between two calls when its dialog was left, and says so", async ({ expect }) => {
    const leaving = new AbortController();
    let calls = 0;
    vi.stubGlobal("fetch", async () => {
      if (++calls === 2) leaving.abort();
      return Response.json(answer(calls === 3, [], 0));
    });
    await expect(undoImport(client, "imp_1", leaving.signal)).rejects.toMatchObject({
      message: "Only a part of the orders is undone.",
    });
    expect(calls).toBe(2);
    expect(await undoImport(client, "imp_1", leaving.signal)).toMatchObject({ isComplete: true });
  });
});
