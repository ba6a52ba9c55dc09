/** `/admin/keys`: issuing keys, changing them, and looking at what they do. */
import { Hono } from "hono";
import { maskKey, mintKey } from "../../auth/key-format.ts";
import { hashKey } from "../../auth/key-hash.ts";
import type { AppEnv, Bindings } from "../../context.ts";
import { audit } from "../../db/audit-repository.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import {
  changeKey,
  getKey,
  insertKey,
  insertSecret,
  isChangeable,
  type KeyChanges,
  type KeyView,
  listKeys,
  retireSecrets,
} from "../../db/key-repository.ts";
import { getPlan } from "../../db/plan-repository.ts";
import { ApiError } from "../../errors.ts";
import { raiseMinVersion } from "../../limiter/limiter-admin-client.ts";
import { rfc3339OrNull } from "../../time.ts";
import { type Effective, effective, nowSeconds } from "../effective.ts";
import { describeLive } from "../live-usage.ts";
import { CONSTRAINT_MESSAGES, conflictOn } from "../write-conflict.ts";
import { keyChanges, keyQuery, newKey, rotation } from "./request-schemas.ts";
import { invalid, jsonBody, queryOf } from "./request-validation.ts";

const LIMITS_LOST = "Another change came first, with which this one would leave the key without a limit.";

export const keyRoutes = new Hono<AppEnv>()
  .get("/", queryOf(keyQuery), async (c) => {
    const filter = c.req.valid("query");
    const keys = await listKeys(openDatabase(c.env.DB), filter, nowSeconds());
    return c.json({ keys, next: keys.length === filter.limit ? (keys.at(-1)?.id ?? null) : null });
  })

  .post("/", jsonBody(newKey), async (c) => {
    const db = openDatabase(c.env.DB);
    const body = c.req.valid("json");
    await requireLimits(db, body.plan, body);
    const id = mintKeyId();
    const secret = await mintSecret(id);
    const { requestsPerMinute = null, requestsPerDay = null, expiresAt = null } = body;
    const given = { name: body.name, plan: body.plan, requestsPerMinute, requestsPerDay, expiresAt };
    const created = db.batch([
      insertKey(db, { ...given, id, createdAt: c.var.author.at }),
      insertSecret(db, secret.row),
      audit(db, c.var.author, {
        call: "keys.create",
        object: id,
        after: { ...toAuditFields(given), hint: secret.row.hint },
      }),
    ]);
    await conflictOn(CONSTRAINT_MESSAGES.keyHasLimits, LIMITS_LOST, created);
    const record = await existingKey(db, id);
    return c.json({ ...record, key: secret.key }, 201, { Location: `/admin/keys/${id}` });
  })

  .get("/:id", async (c) => {
    const key = await existingKey(openDatabase(c.env.DB), c.req.param("id"));
    return c.json({ ...key, live: await describeLive(c.env, key) });
  })

  .patch("/:id", jsonBody(keyChanges), async (c) => {
    const db = openDatabase(c.env.DB);
    const before = await changeableKey(db, c.req.param("id"));
    const { disabled, ...rest } = c.req.valid("json");
    const changes = definedOnly({
      ...rest,
      status: disabled === undefined ? undefined : disabled ? ("disabled" as const) : ("active" as const),
    });
    if (Object.keys(changes).length === 0) throw invalid("The body changes nothing.");
    await requireLimits(db, changes.plan ?? before.plan, { ...before, ...changes });
    const changed = db.batch([
      audit(
        db,
        c.var.author,
        { call: "keys.update", object: before.id, ...difference(before, changes) },
        isChangeable(before.id),
      ),
      changeKey(db, before.id, changes),
    ]);
    await conflictOn(CONSTRAINT_MESSAGES.keyHasLimits, LIMITS_LOST, changed);
    return c.json(assertNotRevoked(await tellAndView(c.env, db, before.id)));
  })

  .post("/:id/rotate", jsonBody(rotation), async (c) => {
    const db = openDatabase(c.env.DB);
    const before = await changeableKey(db, c.req.param("id"));
    if (before.status === "expired") throw new ApiError("conflict", "An expired key cannot be rotated.");
    const oldDiesAt = c.var.author.at + c.req.valid("json").graceSeconds;
    const secret = await mintSecret(before.id);
    await db.batch([
      audit(
        db,
        c.var.author,
        {
          call: "keys.rotate",
          object: before.id,
          before: { hints: before.secrets.map((old) => old.hint) },
          after: { hint: secret.row.hint, oldSecretsExpireAt: rfc3339OrNull(oldDiesAt) },
        },
        isChangeable(before.id),
      ),
      retireSecrets(db, before.id, oldDiesAt),
      insertSecret(db, secret.row),
    ]);
    return c.json({ ...assertNotRevoked(await tellAndView(c.env, db, before.id)), key: secret.key });
  })

  .delete("/:id", async (c) => {
    const db = openDatabase(c.env.DB);
    const before = await existingKey(db, c.req.param("id"));
    if (before.status !== "revoked") {
      await db.batch([
        audit(
          db,
          c.var.author,
          {
            call: "keys.revoke",
            object: before.id,
            before: { status: before.status },
            after: { status: "revoked" },
          },
          isChangeable(before.id),
        ),
        changeKey(db, before.id, { status: "revoked" }),
      ]);
    }
    return c.json(await tellAndView(c.env, db, before.id));
  });

/** The database has the change; from here on the key's limiter refuses older copies of the record. */
async function tellAndView(
  env: Bindings,
  db: Database,
  id: string,
): Promise<KeyView & { effective: Effective }> {
  const key = await existingKey(db, id);
  return { ...key, effective: effective(await raiseMinVersion(env, id, key.version)) };
}

export async function existingKey(db: Database, id: string): Promise<KeyView> {
  const key = await getKey(db, id, nowSeconds());
  if (!key) throw new ApiError("not_found", "No key has this id.");
  return key;
}

async function changeableKey(db: Database, id: string): Promise<KeyView> {
  return assertNotRevoked(await existingKey(db, id));
}

function assertNotRevoked<Key extends KeyView>(key: Key): Key {
  if (key.status === "revoked") throw new ApiError("conflict", "The key is revoked, which is for good.");
  return key;
}

type OwnLimits = {
  requestsPerMinute?: number | null | undefined;
  requestsPerDay?: number | null | undefined;
};

/** Each limit must come from the key or from its plan. */
async function requireLimits(db: Database, planId: string, own: OwnLimits): Promise<void> {
  const plan = await getPlan(db, planId);
  const missing = (["requestsPerMinute", "requestsPerDay"] as const).filter(
    (field) => (own[field] ?? plan?.[field] ?? null) === null,
  );
  if (missing.length === 0) return;
  throw invalid(
    missing.map((field) => `${field}: is required, as plan ${planId} has none of its own`).join("; "),
  );
}

/** Sorts by time of creation: 12 hex digits of milliseconds, then 80 random bits. */
function mintKeyId(): string {
  const random = crypto.getRandomValues(new Uint8Array(10));
  return `key_${Date.now().toString(16).padStart(12, "0")}${random.toHex()}`;
}

async function mintSecret(keyId: string) {
  const key = mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
  return { key, row: { hash: await hashKey(key), keyId, hint: maskKey(key), createdAt: nowSeconds() } };
}

function toAuditFields(changes: KeyChanges): Record<string, unknown> {
  const { expiresAt, ...rest } = changes;
  return expiresAt === undefined ? rest : { ...rest, expiresAt: rfc3339OrNull(expiresAt) };
}

/** For the audit: the changed fields only, as they were and as they are. */
function difference(before: KeyView, changes: KeyChanges) {
  const after = toAuditFields(changes);
  const fields = Object.keys(after);
  return {
    before: Object.fromEntries(Object.entries(before).filter(([field]) => fields.includes(field))),
    after,
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function definedOnly<T extends object>(values: T): Defined<T> {
  // Dropping the undefined members is what makes the narrower type true.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
