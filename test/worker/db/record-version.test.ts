/**
 * The version of a key record: the higher of the key's and its plan's. It rises with every change of either, whatever
 * D1's clock does.
 */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, it } from "vitest";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { findKeyRecordById, markAsUsed } from "../../../src/worker/db/key-record-repository.ts";
import { findKey } from "../../../src/worker/db/key-repository.ts";
import { listUsedKeysOfPlan } from "../../../src/worker/db/plan-repository.ts";
import { addSecret, createKey } from "../../support/factories.ts";

const PLANS = ["free", "pro", "business"] as const;

async function run(query: string, ...bindings: (string | number)[]): Promise<void> {
  await env.DB.prepare(query)
    .bind(...bindings)
    .run();
}

type Row = { version: number; plan: string };

async function recordsOf(keyIds: readonly string[]): Promise<Row[]> {
  const { results } = await env.DB.prepare(
    `select key_limits.version, plan from json_each(?) as ids
     join key_limits on key_id = ids.value join api_keys on api_keys.id = ids.value order by ids.key`,
  )
    .bind(JSON.stringify(keyIds))
    .all<Row>();
  return results;
}

type Change = {
  readonly kind: "rename" | "secret" | "move" | "plan" | "keyAhead" | "planAhead";
  readonly key: number;
  readonly plan: (typeof PLANS)[number];
};

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom("rename", "secret", "move", "plan", "keyAhead", "planAhead"),
  key: fc.nat(2),
  plan: fc.constantFrom(...PLANS),
});

/** Each change of a key whose plan was changed while D1's clock was ahead. */
const afterPlanAhead = (["rename", "secret", "move", "plan"] as const).map((kind): [Change[]] => [
  [
    { kind: "planAhead", key: 0, plan: "free" },
    { kind, key: 0, plan: kind === "move" ? "pro" : "free" },
  ],
]);

/** `keyAhead` and `planAhead` are changes while D1's clock was an hour ahead. All others follow after it was set back. */
async function apply({ kind, plan }: Change, id: string): Promise<void> {
  if (kind === "rename") await run("update api_keys set name = name where id = ?", id);
  if (kind === "secret") await addSecret(id);
  if (kind === "move") await run("update api_keys set plan = ? where id = ?", plan, id);
  if (kind === "plan") await run("update plans set requests_per_day = 5000 where id = ?", plan);
  if (kind === "keyAhead") {
    const ahead = "(select version + 3600000 from key_limits where key_id = api_keys.id)";
    await run(`update api_keys set version = ${ahead} where id = ?`, id);
  }
  if (kind === "planAhead") {
    await run("update plans set requests_per_day = 5000 where id = ?", plan);
    await run("update plans set version = version + 3600000 where id = ?", plan);
  }
}

describe("the version of a key record", () => {
  it("rises with every change of the key, its secrets or its plan, and with no other", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        const keys = await Promise.all(PLANS.map((plan) => createKey({ plan })));
        const ids = keys.map(({ id }) => id);
        for (const each of changes) {
          const before = await recordsOf(ids);
          await apply(each, ids[each.key] ?? "");
          const after = await recordsOf(ids);
          const isOfPlan = each.kind === "plan" || each.kind === "planAhead";
          for (const [i, { version, plan }] of after.entries()) {
            const isChanged = isOfPlan ? plan === each.plan : i === each.key;
            const versionBefore = before[i]?.version ?? Number.NaN;
            if (isChanged) expect(version, JSON.stringify(each)).toBeGreaterThan(versionBefore);
            else expect(version, JSON.stringify(each)).toBe(versionBefore);
          }
        }
      }),
      { numRuns: 15, examples: afterPlanAhead },
    );
  });

  it("is returned by the statement that marks a key as used, and shown by each reader", async ({
    expect,
  }) => {
    const { id } = await createKey({ plan: "enterprise", perMinute: 5, perDay: 5 });
    await run("update plans set requests_per_minute = 7 where id = 'enterprise'");
    await run("update plans set version = version + 1000 where id = 'enterprise'");
    const version = (await recordsOf([id]))[0]?.version;
    const db = openDatabase(env.DB);
    expect((await findKeyRecordById(db, id))?.version).toBe(version);
    expect((await findKey(db, id, 0))?.version).toBe(version);
    expect(await markAsUsed(db, id, 1)).toBe(version);
    expect(await listUsedKeysOfPlan(db, "enterprise", ["2026-11-21"], 10)).toEqual({
      keys: [{ id, version, location: null }],
      areAll: true,
    });
  });
});
