/** Why a key was refused at a time, from what the audit log has of it. */
import { describe, it } from "vitest";
import type { KeyFacts } from "../../../src/worker/admin/key-history.ts";
import { reasonsAt } from "../../../src/worker/admin/refusal-reasons.ts";
import type { AuditView } from "../../../src/worker/db/audit-repository.ts";
import { FACTS, KEY } from "./key-facts.ts";

/** Of `10:42` or `10:42:30`. */
const on = (time: string) => `2038-06-01T${`${time}:00`.slice(0, 8)}Z`;

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

/** Asked on the next day. */
const reasons = (facts: Partial<KeyFacts>, time: string, now = "2038-06-02T12:00:00Z") =>
  reasonsAt({ ...FACTS, ...facts }, Date.parse(on(time)), Date.parse(now));

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

  it("is a ban or a used-up limit beside the status of the key, which alone says how it was answered", ({
    expect,
  }) => {
    const ban = {
      id: "ban_1",
      keyId: KEY.id,
      keyName: KEY.name,
      cause: "operator",
      reason: "noisy",
      strikes: 0,
      startedAt: on("09:30"),
      endsAt: on("22:00"),
      liftedAt: null,
      liftedBy: null,
      live: true,
    } as const;
    const key = { ...KEY, status: "disabled" } as const;
    const changes = changesOf([
      ["10:00", "ada", "keys.update", { status: "active" }, { status: "disabled" }],
    ]);
    const hour = { hour: on("10:00"), admitted: 1_000, refused: 9, refusedWhileBanned: 0, live: true };
    const texts = reasons({ key, changes, bans: [ban], hours: [hour] }, "10:45").map(({ text }) => text);
    expect(texts).toEqual([
      "The key was disabled. Every request was answered 401.",
      "Banned by an operator: noisy. While it lasted, no request was admitted.",
      expect.stringMatching(
        /^The day's limit of 1000 .* From then on, no request was admitted until midnight/,
      ),
    ]);
    expect(texts.join(" ")).not.toContain("429");
  });

  it("is no expiry and no end of a secret that is still to come in this minute", ({ expect }) => {
    const secrets = [
      { id: "1", hint: "sok_ab…cdef", createdAt: on("09:00"), expiresAt: on("10:42:50") },
      { id: "2", hint: "sok_gh…ijkl", createdAt: on("09:00"), expiresAt: null },
    ];
    const facts = { ...FACTS, key: { ...KEY, expiresAt: on("10:42:40"), secrets } };
    const textsAt = (now: string) =>
      reasonsAt(facts, Date.parse(on("10:42")), Date.parse(on(now)))
        .filter(({ kind }) => kind === "status")
        .map(({ text }) => text);
    expect(textsAt("10:42:39")).toEqual([]);
    expect(textsAt("10:42:40")).toEqual(["The key had expired. Every request was answered 401."]);
    expect(textsAt("10:42:50")).toHaveLength(2);
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
      until: null,
      text: "The key had expired. Every request was answered 401.",
    });
  });

  it("is every status of the minute, also one that ended in the second in which it began", ({ expect }) => {
    const status = (time: string, before: string, after: string): Row => [
      time,
      "ada",
      "keys.update",
      { status: before },
      { status: after },
    ];
    const texts = (facts: Partial<KeyFacts>, time = "10:42") =>
      reasons(facts, time).map(({ from, until, text }) => [from, until, text]);
    const disabled = "The key was disabled. Every request was answered 401.";
    const expired = "The key had expired. Every request was answered 401.";
    const notStored = [null, null, expect.stringMatching(/^The usage of this hour is not known/)];
    const changes = changesOf([
      status("10:42:10", "active", "disabled"),
      ["10:42:11", "ada", "keys.update", { name: "a" }, { name: "b" }],
      status("10:42:20", "disabled", "active"),
      status("10:42:30", "active", "disabled"),
      status("10:42:30", "disabled", "active"),
    ]);
    expect(texts({ changes })).toEqual([
      [on("10:42:10"), on("10:42:20"), disabled],
      [on("10:42:30"), on("10:42:30"), disabled],
      notStored,
    ]);
    expect(texts({ changes }, "10:43")).toEqual([notStored]);
    const extended = (from: string) =>
      changesOf([["10:42:50", "ada", "keys.update", { expiresAt: on(from) }, { expiresAt: null }]]);
    expect(texts({ changes: extended("10:42:40") })).toEqual([
      [on("10:42:40"), on("10:42:50"), expired],
      notStored,
    ]);
    expect(texts({ changes: extended("10:42:55") }), "it never expired").toEqual([notStored]);
  });

  it("is a secret that ended before the end of the minute", ({ expect }) => {
    const secret = (hint: string, time: string) => {
      return { id: hint, hint, createdAt: KEY.createdAt, expiresAt: on(time) };
    };
    const secrets = [secret("a", "10:41:59"), secret("b", "10:42:30"), secret("c", "10:43")];
    expect(reasons({ key: { ...KEY, secrets } }, "10:42").slice(1)).toMatchObject([
      { from: on("10:41:59"), text: "Secret a had ended. Requests with it were answered 401." },
      { from: on("10:42:30"), text: "Secret b ended. Later requests with it were answered 401." },
    ]);
  });

  const HOUR = { hour: on("10:00"), admitted: 23, refused: 2, refusedWhileBanned: 0, live: true };
  const figures = "In this hour: 2 refused by a limit, 0 refused while banned, 23 admitted.";
  const ownLimits = { ...KEY, requestsPerMinute: 60, requestsPerDay: 1_000 };
  const raised = (time: string) =>
    changesOf([
      [
        time,
        "ada",
        "keys.update",
        { requestsPerMinute: 3, requestsPerDay: 10 },
        { requestsPerMinute: 60, requestsPerDay: 1_000 },
      ],
    ]);
  const limitText = (facts: Partial<KeyFacts>) =>
    reasons({ hours: [HOUR], key: ownLimits, ...facts }, "10:42")[0]?.text;

  it("is not known if a limit changed in the hour", ({ expect }) => {
    const unknown = `A limit changed in this hour, so it is not known which one was used up. ${figures}`;
    expect(limitText({ changes: raised("10:50") })).toBe(unknown);
    expect(limitText({ changes: raised("10:10") })).toBe(unknown);
    // Lowered below what had been used before the hour.
    const hours = [{ ...HOUR, hour: on("09:00") }, HOUR];
    const lowered = changesOf([
      ["10:30", "ada", "keys.update", { requestsPerDay: 1_000 }, { requestsPerDay: 20 }],
    ]);
    const key = { ...ownLimits, requestsPerDay: 20 };
    expect(limitText({ hours, changes: lowered, key })).toBe(unknown);
    // Moved to a plan whose limit had been used before the hour.
    const lower = changesOf([["10:30", "ada", "keys.update", { plan: "pro" }, { plan: "free" }]]);
    const plan = { requestsPerMinute: 60, requestsPerDay: 20 };
    expect(limitText({ hours, changes: lower, plan, key: KEY })).toBe(unknown);
    const planChanges = changesOf(
      [["10:50", "ada", "plans.update", { requestsPerDay: 10 }, { requestsPerDay: 1_000 }]],
      "free",
    );
    expect(limitText({ planChanges, key: KEY })).toBe(unknown);
    expect(limitText({ planChanges })).toMatch(/^The limit of 60 a minute was used up/);
    const moved = changesOf([["10:50", "ada", "keys.update", { plan: "free" }, { plan: "pro" }]]);
    expect(limitText({ changes: moved, key: { ...KEY, plan: "pro" } })).toBe(unknown);
    const renamed = changesOf([
      [
        "10:50",
        "ada",
        "keys.update",
        { name: "a", requestsPerDay: 1_000 },
        { name: "b", requestsPerDay: 1_000 },
      ],
    ]);
    expect(limitText({ changes: renamed })).toMatch(/^The limit of 60 a minute was used up/);
    const created = changesOf([
      ["10:10", "ada", "keys.create", null, { plan: "free", requestsPerDay: 1_000 }],
    ]);
    expect(limitText({ changes: created, key: { ...ownLimits, createdAt: on("10:10") } })).toMatch(
      /^The limit of 60 a minute was used up/,
    );
  });

  it("is not told from another plan's change", ({ expect }) => {
    const planChanges = changesOf(
      [["10:50", "ada", "plans.update", { requestsPerDay: 10 }, { requestsPerDay: 1_000 }]],
      "pro",
    );
    expect(limitText({ planChanges, key: KEY })).toMatch(/^The limit of 60 a minute was used up/);
  });

  it("is the limit that the key was created with, also in its first minute", ({ expect }) => {
    const createdAt = on("10:42:30");
    const key = { ...KEY, requestsPerDay: 20, createdAt };
    const changes = changesOf([
      ["10:42:30", "ada", "keys.create", null, { plan: "free", requestsPerDay: 20 }],
    ]);
    expect(limitText({ key, changes })).toMatch(/^The day's limit of 20 was used up in this hour/);
  });

  it("is not known if the key's limit changed in the second in which it was created", ({ expect }) => {
    const created = { requestsPerMinute: null, requestsPerDay: 3, plan: "free" };
    const changes = changesOf([
      ["10:42", "ada", "keys.create", null, created],
      ["10:42", "ada", "keys.update", { requestsPerDay: 3 }, { requestsPerDay: 1_000 }],
    ]);
    const key = { ...KEY, createdAt: on("10:42"), requestsPerDay: 1_000 };
    const hours = [{ hour: on("10:00"), admitted: 5, refused: 3, refusedWhileBanned: 0, live: true }];
    const texts = reasons({ key, changes, hours }, "10:42").map(({ text }) => text);
    expect(texts).toEqual([expect.stringMatching(/^A limit changed in this hour/)]);
    const alone = reasons({ key: { ...key, requestsPerDay: 3 }, changes: changes.slice(1), hours }, "10:42");
    expect(alone[0]?.text).toMatch(/^The day's limit of 3 was used up in this hour/);
  });

  it("is not known if the limiter cannot be reached, whatever it has reported", ({ expect }) => {
    const notLive = { ...HOUR, live: false };
    const text = (figures: string) =>
      `The key's limiter cannot be reached, so the refusals of this day are not known. Last reported of this hour: ${figures}`;
    expect(limitText({ hours: [notLive] })).toBe(
      text("2 refused by a limit, 0 refused while banned, 23 admitted."),
    );
    expect(limitText({ hours: [{ ...notLive, refused: 0 }] })).toBe(
      text("0 refused by a limit, 0 refused while banned, 23 admitted."),
    );
  });

  it("is the day's limit until midnight, or until that limit changed", ({ expect }) => {
    // Usage has hours, not minutes: the day can have been used up after the minute that is asked for.
    const earlier = (perMinute: number) =>
      `If a limit refused requests earlier in this hour, that was the limit of ${perMinute} a minute.`;
    expect(limitText({ key: { ...KEY, requestsPerDay: 20 } })).toBe(
      `The day's limit of 20 was used up in this hour. From then on, no request was admitted until midnight UTC. ${earlier(60)} ${figures}`,
    );
    const today = reasons({ key: { ...KEY, requestsPerDay: 20 }, hours: [HOUR] }, "10:42", on("23:59:59"));
    expect(today[0]?.text).toContain("no request was admitted up to now; the day ends at midnight UTC.");
    expect(limitText({ changes: raised("12:30") })).toBe(
      `The day's limit of 10 was used up in this hour. From then on, no request was admitted at least until the limit changed at ${on("12:30")}. ${earlier(3)} ${figures}`,
    );
    // What was used before the hour is certain.
    const hours = [{ ...HOUR, hour: on("09:00") }, HOUR];
    expect(limitText({ hours, changes: raised("10:50") })).toBe(
      `The day's limit of 10 was used up before this hour. No further request was admitted at least until the limit changed at ${on("10:50")}. ${figures}`,
    );
  });

  it("is of its day alone: neither the hours before midnight count, nor a change after it", ({ expect }) => {
    const yesterday = { ...HOUR, hour: "2038-05-31T20:00:00Z", admitted: 5_000 };
    expect(limitText({ hours: [yesterday, HOUR] })).toMatch(/^The limit of 60 a minute was used up/);
    const tomorrow = raised("08:00").map((change) => ({ ...change, at: "2038-06-02T08:00:00Z" }));
    expect(limitText({ changes: tomorrow })).toMatch(
      /^The day's limit of 10 was used up in this hour. .* until midnight UTC\./,
    );
  });
});
