/** The console's imports of orders, against an admin API that only counts. */
import { afterEach, describe, it, vi } from "vitest";
import {
  endOfImport,
  type ImportProgress,
  importOrders,
} from "../../../src/pages/console/orders/import-orders.ts";
import { formatNumber } from "../../../src/pages/shared/format.ts";
import { adviceToRepeat, NOTHING_IMPORTED } from "../../../src/worker/orders/import-requests.ts";

const session = { token: "a token", operator: "", ended: new AbortController().signal };

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Refuses each line that is no order, and stops as the admin API does. A dry run's counts are of its request only. */
function startService() {
  const bodies: string[] = [];
  let refusedBefore = 0;
  vi.stubGlobal("fetch", async (path: string, { body }: { body: string }) => {
    bodies.push(body);
    const query = new URL(path, "http://localhost").searchParams;
    const maxRefused = Number(query.get("max-refused") ?? 1_000);
    const before = query.has("dry-run") ? 0 : refusedBefore;
    const bad = body.split("\n").flatMap((line, i) => (line === "null" ? [i + 1] : []));
    const stopped = before + bad.length > maxRefused;
    const refused = bad.slice(0, maxRefused - before).map((line) => ({ line, reason: "no" }));
    refusedBefore = before + refused.length;
    return Response.json({ ...NOTHING_IMPORTED, refusedCount: refusedBefore, stopped, refused });
  });
  return bodies;
}

/** 12,000 lines in three requests, 600 bad ones in each after a good one. */
const LINES = Array.from({ length: 12_000 }, (_, i) =>
  i % 5_000 > 0 && i % 5_000 <= 600 ? "x" : `{"id":${i}}`,
);

describe("an import, and its dry run", () => {
  for (const isDryRun of [false, true]) {
    it(`stop after 1,000 refused lines of the file${isDryRun ? ", only checked" : ""}`, async ({
      expect,
    }) => {
      const bodies = startService();
      const shown: ImportProgress[] = [];
      const file = new File([LINES.join("\n")], "orders.ndjson");
      const end = await importOrders(session, file, { isDryRun, restoresCancelled: false }, (progress) =>
        shown.push(progress),
      );
      expect(end).toBe(shown.at(-1));
      expect(shown.at(-1)).toMatchObject({ refusedCount: 1_000, stopped: true, isDone: true, isDryRun });
      expect(
        shown
          .at(-1)
          ?.refused.map(({ line }) => line)
          .at(-1),
      ).toBe(5_401);
      expect(bodies).toHaveLength(2);
    });
  }

  it("say so if the check stops between two requests", async ({ expect }) => {
    const bodies = startService();
    const lines = Array.from({ length: 5_001 }, (_, i) => (i > 0 && i <= 1_000 ? "x" : `{"id":${i}}`));
    const file = new File([lines.join("\n")], "orders.ndjson");
    const end = await importOrders(session, file, { isDryRun: true, restoresCancelled: false }, () => {});
    expect(end).toMatchObject({ sent: 5_000, refusedCount: 1_000, stopped: true, isDone: true });
    expect(bodies).toHaveLength(1);
  });
});

describe("the end of an import whose page was left", () => {
  const end = { ...NOTHING_IMPORTED, sent: 3, total: 3, isDryRun: false, isDone: true };

  it("is told with what the operator has to look after", ({ expect }) => {
    expect(endOfImport("a.ndjson", end)).toBe("The import of a.ndjson is done.");
    expect(endOfImport("a.ndjson", { ...end, refusedCount: 1, backwards: 2 })).toBe(
      `The import of a.ndjson is done. Refused lines: ${formatNumber(1)}. Check the file to see them. Orders whose status went backwards: ${formatNumber(2)}.`,
    );
    expect(endOfImport("a.ndjson", { ...end, refusedCount: 9, stopped: true })).toBe(
      `The import of a.ndjson stopped: nothing after the last refused line was read. Refused lines: ${formatNumber(9)}. Check the file to see them.`,
    );
  });
});

describe("an import", () => {
  it("says that a file cannot be read any more, as if it was changed since it was chosen", async ({
    expect,
  }) => {
    const bodies = startService();
    const file = new File(['{"id":1}'], "orders\u202e.ndjson");
    // As Chromium does.
    file.text = async () => {
      throw new DOMException("It could not be read.", "NotReadableError");
    };
    const running = importOrders(session, file, { isDryRun: false, restoresCancelled: false }, () => {});
    await expect(running).rejects.toMatchObject({
      kind: "invalid",
      message: "orders.ndjson cannot be read. Nothing was sent.",
    });
    expect(bodies).toEqual([]);
  });

  it("takes a page of a proxy, and other JSON, for no answer of the service", async ({ expect }) => {
    vi.useFakeTimers();
    const { inserted: _, ...incomplete } = NOTHING_IMPORTED;
    const foreign = [{}, incomplete].map((body) => Response.json(body));
    const answers = [...foreign, new Response("<html>Sign in</html>"), Response.json(NOTHING_IMPORTED)];
    vi.stubGlobal("fetch", async () => answers.shift() ?? new Response("<html>Sign in</html>"));
    const send = async () => {
      const file = new File(['{"id":1}'], "orders.ndjson");
      const running = importOrders(session, file, { isDryRun: false, restoresCancelled: false }, () => {});
      await Promise.all([running, vi.advanceTimersByTimeAsync(20_000)]);
    };
    await send();
    await expect(send()).rejects.toMatchObject({ kind: "unreachable" });
  });

  describe("whose connection breaks", () => {
    /** A lost connection, then a 409 for each of so many tries, then what is stored. */
    async function sendWith(conflicts: number) {
      vi.useFakeTimers();
      const bodies: string[] = [];
      vi.stubGlobal("fetch", async (_path: string, { body }: { body: string }) => {
        bodies.push(body);
        if (bodies.length === 1) throw new TypeError("Failed to fetch");
        if (bodies.length <= 1 + conflicts) return Response.json({ message: "Meanwhile." }, { status: 409 });
        return Response.json({ ...NOTHING_IMPORTED, inserted: 1 });
      });
      const file = new File(['{"id":1}'], "orders.ndjson");
      let last: ImportProgress | undefined;
      const options = { isDryRun: false, restoresCancelled: false };
      let thrown: unknown;
      const running = importOrders(session, file, options, (progress) => {
        last = progress;
      }).catch((reason: unknown) => {
        thrown = reason;
      });
      await await Promise.all([running, vi.advanceTimersByTimeAsync(20_000)]);
      return { bodies, last, thrown };
    }

    it("sends the same again while the service is still storing the first try", async ({ expect }) => {
      const { bodies, last, thrown } = await sendWith(2);
      expect(thrown).toBeUndefined();
      expect(bodies).toEqual(Array.from({ length: 4 }, () => '{"id":1}'));
      expect(last).toMatchObject({ inserted: 1, isDone: true });
    });

    it("does so four times at most, and does not say that nothing was changed", async ({ expect }) => {
      const { bodies, thrown } = await sendWith(Number.POSITIVE_INFINITY);
      expect(bodies).toHaveLength(4);
      expect(thrown).toMatchObject({ kind: "conflict", advice: expect.not.stringContaining("Nothing was") });
    });
  });

  describe("whose upload breaks off, or that meets an outage of the database", () => {
    const message =
      "Away. This request is stored up to line 1000. Sent again as the same import, it goes on.";

    /** So many answers with this status, then what is stored. */
    async function sendWith(
      status: number,
      failures: number,
      { isDryRun = false, restoresCancelled = false } = {},
    ) {
      vi.useFakeTimers();
      let requests = 0;
      vi.stubGlobal("fetch", async () =>
        ++requests > failures ? Response.json(NOTHING_IMPORTED) : Response.json({ message }, { status }),
      );
      const file = new File(['{"id":1}'], "orders.ndjson");
      const running = importOrders(session, file, { isDryRun, restoresCancelled }, () => {}).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const [thrown] = await Promise.all([running, vi.advanceTimersByTimeAsync(20_000)]);
      return { requests, thrown };
    }

    for (const status of [408, 503]) {
      it(`is sent again after a ${status}, and at last does not name the lines of one request`, async ({
        expect,
      }) => {
        expect(await sendWith(status, 3)).toEqual({ requests: 4, thrown: undefined });
        expect(await sendWith(status, 4)).toMatchObject({
          requests: 4,
          thrown: {
            message: "Away.",
            advice: "Importing the whole file again is safe.",
          },
        });
        expect(await sendWith(status, 4, { restoresCancelled: true })).toMatchObject({
          thrown: { advice: "Importing the whole file again restores also what clients cancel until then." },
        });
        expect(await sendWith(status, 4, { isDryRun: true })).toMatchObject({
          thrown: { message, advice: expect.not.stringContaining("Importing") },
        });
      });
    }
  });

  it("takes a 409 for final after four tries, and says what a repeat would do", async ({ expect }) => {
    vi.useFakeTimers();
    const message = "The import is of another file. Start a new one.";
    const answer = vi.fn(async () => Response.json({ message }, { status: 409 }));
    vi.stubGlobal("fetch", answer);
    const file = new File(['{"id":1}'], "orders.ndjson");
    for (const restoresCancelled of [false, true]) {
      const running = importOrders(session, file, { isDryRun: false, restoresCancelled }, () => {});
      const advice = adviceToRepeat(restoresCancelled);
      const told = expect(running).rejects.toMatchObject({ message, advice });
      await vi.advanceTimersByTimeAsync(20_000);
      await told;
    }
    expect(answer).toHaveBeenCalledTimes(8);
  });

  it("goes on after a 409 to a request that the browser had sent before by itself", async ({ expect }) => {
    vi.useFakeTimers();
    const answers = [
      Response.json({ message: "Meanwhile." }, { status: 409 }),
      Response.json({ ...NOTHING_IMPORTED, inserted: 1 }),
    ];
    vi.stubGlobal("fetch", async () => answers.shift());
    const file = new File(['{"id":1}'], "orders.ndjson");
    const shown: ImportProgress[] = [];
    const options = { isDryRun: false, restoresCancelled: false };
    const running = importOrders(session, file, options, (progress) => shown.push(progress));
    await vi.advanceTimersByTimeAsync(5_000);
    await running;
    expect(shown.at(-1)).toMatchObject({ inserted: 1, isDone: true });
  });

  it("ends at the sign-out: the forgotten token is not used again", async ({ expect }) => {
    const end = new AbortController();
    const signals: (AbortSignal | null | undefined)[] = [];
    vi.stubGlobal("fetch", async (_path: string, { signal }: RequestInit) => {
      signals.push(signal);
      end.abort();
      // As the browser's fetch does.
      signal?.throwIfAborted();
      return Response.json({ refusedCount: 0, stopped: false, refused: [] });
    });
    const file = new File([LINES.join("\n")], "orders.ndjson");
    const running = importOrders(
      { ...session, ended: end.signal },
      file,
      { isDryRun: false, restoresCancelled: false },
      () => {},
    );
    await expect(running).rejects.toMatchObject({ kind: "unreachable" });
    expect(signals).toEqual([end.signal]);
  });
});
