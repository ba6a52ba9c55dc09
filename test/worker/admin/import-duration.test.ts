/** When an import began, and how long it took: from the arrival of its first text to its last chunk. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { Upload } from "../../../src/worker/admin/upload.ts";
import { newOrderId } from "../../support/factories.ts";
import { captureLog, setClock, startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const T0 = Date.UTC(2037, 0, 1, 12);

beforeEach(() => {
  captureLog();
  setClock(T0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("an import", () => {
  it("begins when its first text arrives, however slowly the rest follows", async ({ expect }) => {
    async function* slow() {
      for (const afterMs of [10_000, 40_000, 70_000]) {
        vi.setSystemTime(T0 + afterMs);
        yield "{}\n";
      }
    }
    const upload = new Upload(slow());
    expect(upload.startedAtMs).toBeUndefined();
    let texts = 0;
    for await (const _ of upload) {
      texts++;
      expect(upload.startedAtMs).toBe(T0 + 10_000);
    }
    expect([texts, upload.startedAtMs]).toEqual([3, T0 + 10_000]);
  });

  it("took no negative time if the clock of a later request's isolate is behind", async ({ expect }) => {
    const operator = operatorOf(startApp());
    const path = `/orders?import=imp_${crypto.randomUUID()}`;
    await operator("POST", path, `{"id":${newOrderId()}}`);
    setClock(T0 - 10_000);
    const { body } = await operator("POST", `${path}&from=1`, `{"id":${newOrderId()}}`);
    expect((await operator("GET", "/orders/imports?limit=1")).body.imports).toMatchObject([
      { id: body.import, startedAt: "2037-01-01T12:00:00Z", durationMs: 0, inserted: 2 },
    ]);
  });
});
