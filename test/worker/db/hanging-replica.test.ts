/** A replica of D1 that hangs: the primary is read instead (ADR-19). */
import { env } from "cloudflare:workers";
import { afterEach, it, vi } from "vitest";
import { MAX_REPLICA_MS, readNearest, type Session } from "../../../src/worker/db/session.ts";
import { captureLog } from "../../support/worker.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it("is replaced by the primary after two seconds", async ({ expect }) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const log = captureLog();
  // A session has the name of its beginning as its bookmark. `readNearest` calls these members only.
  const withSession = (start: string) => ({ ...env.DB, getBookmark: () => start });
  const DB = { withSession } as unknown as D1Database;
  const read = async (session: Session) => {
    const start = session.bookmark();
    return start === "first-primary" ? start : new Promise<never>(() => {});
  };
  const value = readNearest({ ...env, DB, D1_READ_REPLICATION: "auto" }, undefined, read);
  await vi.advanceTimersByTimeAsync(MAX_REPLICA_MS);
  expect(await value).toBe("first-primary");
  expect(log.lines()).toMatchObject([{ event: "replica_failed" }]);
});
