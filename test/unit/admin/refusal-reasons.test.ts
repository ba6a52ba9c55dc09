/** Why a key was refused at a time, from what the audit log has of it. */
import { describe, it } from "vitest";
import type { KeyFacts } from "../../../src/worker/admin/key-history.ts";
import { reasonsAt } from "../../../src/worker/admin/refusal-reasons.ts";
import type { AuditView } from "../../../src/worker/db/audit-repository.ts";

const KEY = {
  id: "key_1",
  name: "k",
  ownerName: null,
  ownerEmail: null,
  note: null,
  plan: "free",
  status: "active",
  limits: { requestsPerMinute: 60, requestsPerDay: 1_000 },
  requestsPerMinute: null,
  requestsPerDay: null,
  expiresAt: null,
  createdAt: "2038-05-01T00:00:00Z",
  location: null,
  firstUsedAt: null,
  lastUsedDay: null,
  version: 1,
  secrets: [],
} as const;

const FACTS: KeyFacts = {
  key: KEY,
  bans: [],
  changes: [],
  knownSinceMs: 0,
  plan: { requestsPerMinute: 60, requestsPerDay: 1_000 },
  planChanges: [],
  hours: [],
};

const on = (time: string) => `2038-06-01T${time}:00Z`;

/** A change, as [time, actor, call, before, after]. */
type Row = readonly [time: string, actor: string, call: string, before: unknown, after: unknown];

/** Newest first, as the audit log is read. */
function changesOf(rows: readonly Row[], object = "key_1"): AuditView[] {
  return rows
    .map(([time, actor, call, before, after], id) => {
      return { id, at: on(time), requestId: "r", actor, call, object, before, after };
    })
    .reverse();
}

const reasons = (facts: Partial<KeyFacts>, time: string) =>
  reasonsAt({ ...FACTS, ...facts }, Date.parse(on(time)), Date.parse(on("23:00")));

describe("the reason of a refusal", () => {
  it("has who disabled the key, not who disabled it again", ({ expect }) => {
    const key = { ...KEY, status: "disabled" } as const;
    const changes = changesOf([
      ["08:00", "ann", "keys.update", { status: "active" }, { status: "disabled" }],
      ["09:00", "bob", "keys.update", { status: "disabled" }, { status: "active" }],
      ["10:00", "ada", "keys.update", { status: "active" }, { status: "disabled" }],
      ["11:00", "bob", "keys.update", { status: "disabled" }, { status: "disabled" }],
    ]);
    expect(reasons({ key, changes }, "12:00")[0]).toMatchObject({ from: on("10:00"), actor: "ada" });
    expect(reasons({ key, changes }, "08:30")[0]).toMatchObject({ from: on("08:00"), actor: "ann" });
  });

  it("is the key's expiry also if a secret was retired later", ({ expect }) => {
    const key = { ...KEY, status: "expired", expiresAt: on("09:00") } as const;
    const changes = changesOf([
      [
        "12:00",
        "ada",
        "keys.retire",
        { hint: "sok_ab…cdef", expiresAt: on("14:00") },
        { expiresAt: on("12:00") },
      ],
    ]);
    expect(reasons({ key, changes }, "10:00")[0]).toMatchObject({
      from: on("09:00"),
      text: "The key had expired. Every request was answered 401.",
    });
  });
});
