/** `GET /admin/keys/{id}/history`: the changes and bans of a key, and the hours in which it was refused. */
import { describe, it } from "vitest";
import type { KeyEvent } from "../../../src/worker/admin/keys/schema.ts";
import { createKey } from "../../support/factories.ts";
import { setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { banByStrikes, operatorOf, untilStored } from "./admin-support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const T0 = Date.UTC(2038, 5, 1, 10, 42);

const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

const nameOf = (event: KeyEvent) => (event.kind === "ban" ? `ban: ${event.ban.cause}` : event.change.call);

describe("the history of a key", () => {
  it("has its changes and bans in one list, newest first, and the hours with refusals", async ({
    expect,
  }) => {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    await app("/v1/nothing", { key: key.key });
    await untilStored("select 1 from bans where key_id = ?", key.id);
    setClock(T0 + 2 * MINUTE);
    await operator("DELETE", `/keys/${key.id}/ban`);
    setClock(T0 + 2 * HOUR);
    await operator("PATCH", `/keys/${key.id}`, { note: "watch" });
    await operator("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "leaked" });
    await createKey();
    const { body } = await operator("GET", `/keys/${key.id}/history`);
    // The body of this route.
    expect((body.events as KeyEvent[]).map(nameOf)).toEqual([
      "ban: operator",
      "bans.set",
      "keys.update",
      "bans.lift",
      "ban: strikes",
    ]);
    expect(body).toMatchObject({
      keyName: "test",
      next: null,
      asOf: "2038-06-01T12:42:00Z",
      events: [
        { at: "2038-06-01T12:42:00Z", ban: { reason: "leaked", live: true } },
        { change: { actor: "mo", object: key.id } },
        { change: { before: { note: null }, after: { note: "watch" } } },
        { at: "2038-06-01T10:44:00Z" },
        { at: "2038-06-01T10:42:21Z", ban: { strikes: 20, liftedBy: "mo" } },
      ],
      hours: [
        {
          start: "2038-06-01T10:00:00Z",
          admitted: 1,
          refused: 20,
          refusedWhileBanned: 2,
          refusedMinutes: [{ at: "2038-06-01T10:42:00Z", by: { minute: 20, ban: 2 } }],
        },
      ],
    });
  });
});
