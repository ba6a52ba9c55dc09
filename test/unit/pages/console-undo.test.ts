/** The console's undoing of an import, against an admin API that answers in parts. */
import { afterEach, describe, it, vi } from "vitest";
import { adminClient } from "../../../src/pages/console/admin-client.ts";
import type { UndoAnswer } from "../../../src/pages/console/api-types.ts";
import { undoImport, undoneText } from "../../../src/pages/console/orders/undo-import.ts";
import { formatNumber } from "../../../src/pages/shared/format.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** An answer of which only these members are read. Null: it is complete. */
function answer(lastChunk: number | null, leftAlone: readonly string[], total: number): UndoAnswer {
  const undone = { at: "2026-11-22T00:00:00Z", deleted: 1, restored: 0, leftAlone: total };
  return {
    import: { id: "imp_1", undone },
    isComplete: lastChunk === null,
    lastChunk,
    leftAlone,
  } as UndoAnswer;
}

const client = adminClient({ token: "a token", operator: "" });

describe("undoing an import", () => {
  it("goes on until it is complete, and does not announce success alone", async ({ expect }) => {
    const answers = [answer(9, [], 2), answer(5, [], 2), answer(null, ["1", "2", "7"], 3)];
    vi.stubGlobal("fetch", async () => Response.json(answers.shift()));
    const undone = await undoImport(client, "imp_1", new AbortController().signal);
    expect(undone.leftAlone).toEqual(["1", "2", "7"]);
    expect(undoneText(undone)).toBe(`The import is undone, but ${formatNumber(3)} orders are left alone.`);
    expect(undoneText(answer(null, ["1"], 1))).toBe(
      `The import is undone, but ${formatNumber(1)} order is left alone.`,
    );
    expect(undoneText(answer(null, [], 0))).toBe("The import is undone.");
  });

  it("takes figures that grow for progress, as a service answers that names no chunk", async ({ expect }) => {
    const grown = (deleted: number) => {
      const { lastChunk: _lastChunk, ...part } = answer(9, [], 0);
      return { ...part, import: { ...part.import, undone: { ...part.import.undone, deleted } } };
    };
    const answers = [grown(1), grown(2), answer(null, [], 0)];
    vi.stubGlobal("fetch", async () => Response.json(answers.shift()));
    const undone = await undoImport(client, "imp_1", new AbortController().signal);
    expect(undone.isComplete).toBe(true);
  });

  it("does not say that nothing was changed if a later call is refused", async ({ expect }) => {
    const refusal = Response.json({ message: "It is no longer known." }, { status: 409 });
    const answers = [Response.json(answer(9, [], 0)), refusal];
    vi.stubGlobal("fetch", async () => answers.shift());
    await expect(undoImport(client, "imp_1", new AbortController().signal)).rejects.toMatchObject({
      message: "It is no longer known.",
      advice: expect.not.stringContaining("Nothing was changed"),
    });
  });

  it("takes an answer of another shape, or without progress, for none of the service", async ({ expect }) => {
    const notComplete = answer(9, [], 0);
    const { leftAlone: _leftAlone, ...unnamed } = answer(null, [], 0);
    const shapes = [{}, null, [], { isComplete: true }, unnamed];
    for (const answers of [...shapes.map((each) => [each]), [notComplete, notComplete]]) {
      let calls = 0;
      // As of a service that never makes progress.
      vi.stubGlobal("fetch", async () => {
        if (calls > answers.length) throw new Error("called without end");
        return Response.json(answers[calls++]);
      });
      const undoing = undoImport(client, "imp_1", new AbortController().signal);
      await expect(undoing, JSON.stringify(answers)).rejects.toMatchObject({ kind: "unreachable" });
      expect(calls).toBe(answers.length);
    }
  });

  it("stops between two calls when its dialog was left, and says so", async ({ expect }) => {
    const leaving = new AbortController();
    let calls = 0;
    vi.stubGlobal("fetch", async () => {
      if (++calls === 2) leaving.abort();
      return Response.json(answer(calls === 3 ? null : 10 - calls, [], 0));
    });
    await expect(undoImport(client, "imp_1", leaving.signal)).rejects.toMatchObject({
      message: "Only a part of the orders is undone.",
    });
    expect(calls).toBe(2);
    expect(await undoImport(client, "imp_1", leaving.signal)).toMatchObject({ isComplete: true });
  });
});
