/** Customers: who uses the keys, whose a day's use is, and what a merge and an erasure leave. */
import { env } from "cloudflare:workers";
import { describe, it, vi } from "vitest";
import { newCustomer } from "../../../src/worker/admin/customers/schema.ts";
import { bodyOf } from "../../support/bodies.ts";
import { createKey, giveKeys } from "../../support/factories.ts";
import { LIST, setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { everyRow, operatorOf, withoutReportsTo, writingAfter } from "./admin-support.ts";

const T0 = Date.UTC(2040, 5, 1, 10);
const DAY_MS = 86_400_000;
const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

type Customer = { id: string; name: string; email: string | null };
type Key = { id: string; key: string; customer: Customer | null; customerCreated?: true; version: number };
type Listed = Customer & { keys: number; usage: { admitted: number; refused: number; keyCount: number } };

async function createKeyOf(customer: string | null, members: object = {}): Promise<Key> {
  const body = { name: "backend", plan: "free", customer, ...members };
  return (await operator("POST", "/keys", body)).body as unknown as Key; // the documented shape
}

async function customers(query: string): Promise<Listed[]> {
  const { body } = await operator("GET", `/customers?${query}`);
  return body.customers as Listed[]; // the documented shape
}

const moveTo = (key: Key, customer: string) => operator("PATCH", `/keys/${key.id}`, { customer });

async function use({ key }: Key, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await app(LIST, { key });
}

/** Admitted requests of the last two days by the customer's name. */
async function useByCustomer(): Promise<Record<string, number>> {
  const all = await customers("from=1d");
  return Object.fromEntries(all.map(({ name, usage }) => [name, usage.admitted]));
}

describe("a key names its customer", () => {
  it("by an id or a name in any case, and a new name makes one customer, however many ask", async ({
    expect,
  }) => {
    const made = await Promise.all(["Zoë AG", "ZOË AG", "zoë ag"].map((name) => createKeyOf(name)));
    expect(new Set(made.map(({ customer }) => customer?.id)).size).toBe(1);
    expect(made.filter(({ customerCreated }) => customerCreated)).toHaveLength(1);
    const [{ customer } = { customer: null }] = made;
    expect((await createKeyOf(customer?.id ?? "")).customer).toEqual(customer);
    const { audit } = (await operator("GET", "/audit?call=customers.create&limit=1")).body;
    expect(audit).toMatchObject([{ object: customer?.id, actor: "mo", after: { name: customer?.name } }]);
    const { version } = (await operator("GET", `/customers/${customer?.id}`)).body;
    expect(version).toBe((audit as { id: number }[])[0]?.id);
  });

  it("and names that differ in accents are two customers, which a search finds both", async ({ expect }) => {
    const [with_, without] = [await createKeyOf("Café Nord"), await createKeyOf("Cafe Nord")];
    expect(with_.customer?.id).not.toBe(without.customer?.id);
    expect((await customers("search=CAFE+nord")).map(({ name }) => name).sort()).toEqual([
      "Cafe Nord",
      "Café Nord",
    ]);
    expect((await customers("customer=caf%C3%A9+NORD")).map(({ id }) => id)).toEqual([with_.customer?.id]);
  });

  it.for([".", "..", "a/b", "?x=1&y", "null", "x".repeat(100)])(
    "and can be called %s",
    async (name, { expect }) => {
      const { customer } = await createKeyOf(name);
      expect(customer?.name).toBe(name);
      const query = `customer=${encodeURIComponent(name)}`;
      for (const [path, member] of [
        ["keys", "keys"],
        ["customers", "customers"],
        ["usage", "rows"],
        ["links", "links"],
        ["bans", "bans"],
      ] as const)
        expect((await operator("GET", `/${path}?${query}`)).body[member], path).toBeInstanceOf(Array);
      expect((await operator("POST", "/keys/disable?dry-run", { customer: name })).status).toBe(200);
    },
  );

  it("and whoever does not exist is a 400, never an empty answer", async ({ expect }) => {
    for (const name of ["Nobody", "cus_000000000000", ""]) {
      const query = `customer=${encodeURIComponent(name)}`;
      for (const path of ["keys", "customers", "usage", "usage?by=day", "links", "bans"])
        expect(
          await operator("GET", `/${path}${path.includes("?") ? "&" : "?"}${query}`),
          path,
        ).toMatchObject({
          status: 400,
          body: { problems: [{ member: "customer" }] },
        });
      expect((await operator("POST", "/links", { customer: name, days: 1 })).status).toBe(400);
    }
    const { id } = await createKeyOf(null);
    const refused = await operator("PATCH", `/keys/${id}`, { customer: "cus_000000000000" });
    expect(refused).toMatchObject({ status: 400, body: { problems: [{ member: "customer" }] } });
    for (const path of ["/customers/Nobody", "/customers/cus_000000000000"])
      expect((await operator("GET", path)).status).toBe(404);
    const named = await operator("POST", "/customers", { name: "cus_abcdefghijkl" });
    expect(named).toMatchObject({ status: 400, body: { problems: [{ member: "name" }] } });
  });
});

describe("a day's use", () => {
  it("stays with its customer when the name is corrected in the middle of the day", async ({ expect }) => {
    const key = await createKeyOf("Globxe Ltd");
    await use(key, 3);
    const path = `/customers/${key.customer?.id}`;
    expect((await operator("PATCH", path, { name: "Globex Ltd" })).body.name).toBe("Globex Ltd");
    await use(key, 2);
    expect((await useByCustomer())["Globex Ltd"]).toBe(5);
    expect(await customers("customer=globex+ltd")).toMatchObject([
      { keys: 1, usage: { admitted: 5, keyCount: 1 } },
    ]);
    expect((await operator("GET", "/usage?customer=Globxe+Ltd")).status).toBe(400);
    const shown = (await operator("GET", `/keys/${key.id}`)).body;
    expect(shown).toMatchObject({ customer: { name: "Globex Ltd" }, version: key.version });
  });

  it("stays with customer and plan of its first report when the key moves, also if that report failed", async ({
    expect,
  }) => {
    const [key, lost] = [await createKeyOf("Old"), await createKeyOf("Old")];
    await use(key, 2);
    await use(lost, 1);
    setClock(T0 + DAY_MS);
    await use(key, 3);
    await withoutReportsTo(["usage"], () => use(lost, 4));
    for (const each of [key, lost]) {
      await operator("PATCH", `/keys/${each.id}`, { customer: "New", plan: "pro" });
      await use(each, 1);
    }
    expect(await useByCustomer()).toMatchObject({ Old: 12 });
    const free = (await operator("GET", "/usage?plan=free&customer=old&from=1d")).body;
    expect(free.total).toMatchObject({ admitted: 12, keyCount: 2 });
    setClock(T0 + 2 * DAY_MS);
    await use(key, 1);
    expect(await useByCustomer()).toMatchObject({ Old: 9, New: 1 });
    const byDay = (await operator("GET", "/usage?by=day&customer=new&plan=pro&from=1d")).body;
    expect(byDay.total).toMatchObject({ admitted: 1 });
  });

  it("is the new customer's if the key was not in use before it moved, and a ban is of whom it began with", async ({
    expect,
  }) => {
    const key = await createKeyOf("First");
    const ban = { seconds: 60, reason: "x" };
    await operator("PUT", `/keys/${key.id}/ban`, ban);
    await moveTo(key, "Second");
    await operator("PUT", `/keys/${key.id}/ban`, ban);
    await operator("DELETE", `/keys/${key.id}/ban`);
    await use(key, 2);
    expect(await useByCustomer()).toMatchObject({ Second: 2 });
    for (const customer of ["First", "Second"])
      expect((await operator("GET", `/bans?customer=${customer}`)).body.bans).toMatchObject([
        { keyId: key.id, customer: { name: customer } },
      ]);
  });
});

describe("the list of customers", () => {
  it("has those without any use, too, in each order and on each page", async ({ expect }) => {
    setClock(T0 + 10 * DAY_MS);
    const names = ["Page a", "Page B", "Page c", "Page D"];
    const keys = await Promise.all(names.map((name) => createKeyOf(name, { requestsPerDay: 10 })));
    for (const [i, key] of keys.entries()) await use(key, i === 3 ? 0 : 4 - i);
    for (const [order, expected] of [
      ["sort=name", names],
      ["sort=name&direction=desc", names.toReversed()],
      ["sort=admitted", names],
      ["sort=near&direction=asc", names.toReversed()],
      ["sort=peak", names],
    ] as const) {
      const found: string[] = [];
      let after = "";
      do {
        const { body } = await operator("GET", `/customers?search=page&${order}&limit=1${after}`);
        found.push(...(body.customers as Listed[]).map(({ name }) => name));
        after = body.next === null ? "" : `&after=${body.next}`;
      } while (after !== "");
      expect(found, order).toEqual(expected);
    }
    expect(await customers("customer=Page+D")).toMatchObject([
      { keys: 1, usage: { admitted: 0, keyCount: 0, peakPercent: 0 } },
    ]);
  });
});

describe("a change of a customer", () => {
  it("keeps a name for one customer, and both of two changes at once", async ({ expect }) => {
    const { body } = await operator("POST", "/customers", { name: "Unique" });
    for (const [method, path, name] of [
      ["POST", "/customers", "UNIQUE"],
      ["PATCH", `/customers/${(await createKeyOf("Other")).customer?.id}`, "unique"],
    ] as const)
      expect((await operator(method, path, { name })).status).toBe(409);
    const path = `/customers/${body.id}`;
    const late = writingAfter(() => operator("PATCH", path, { note: "ΣΟΦΌΣ" }));
    await late("PATCH", path, { name: "Émile" });
    for (const search of ["emile", "σοφός"])
      expect((await customers(`search=${encodeURIComponent(search)}`)).map(({ id }) => id)).toEqual([
        body.id,
      ]);
  });

  it("or of a key is made although plain SQL has stored a text that is not UTF-8", async ({ expect }) => {
    const { id, customer } = await createKeyOf("Latin");
    for (const table of ["api_keys", "customers"]) {
      await env.DB.exec(
        `update ${table} set note = cast(x'e9' as text) where id in ('${id}', '${customer?.id}')`,
      );
    }
    for (const path of [`/keys/${id}`, `/customers/${customer?.id}`])
      expect((await operator("PATCH", path, { name: "Renamed" })).body, path).toMatchObject({
        name: "Renamed",
      });
  });

  it("merges all keys, use, bans and no link into another one, and the audit log says whom", async ({
    expect,
  }) => {
    const [from, into] = [await createKeyOf("Merge from"), await createKeyOf("Merge into")];
    const revoked = await createKeyOf("Merge from");
    await operator("DELETE", `/keys/${revoked.id}`);
    for (const key of [from, into]) await use(key, 2);
    await operator("PUT", `/keys/${from.id}/ban`, { seconds: 60, reason: "x" });
    await operator("POST", "/links", { customer: "Merge from", days: 1 });
    const path = `/customers/${from.customer?.id}/merge`;
    expect((await operator("POST", path, { into: "merge FROM" })).status).toBe(400);
    const { body } = await operator("POST", path, { into: "merge into" });
    expect(body).toMatchObject({ into: { id: into.customer?.id, keys: 2 } });
    expect((await operator("GET", "/customers/Merge%20from")).status).toBe(404);
    expect(await customers("customer=Merge+into")).toMatchObject([
      { keys: 2, usage: { admitted: 4, keyCount: 2 } },
    ]);
    const shown = (await operator("GET", "/keys?customer=merge+into")).body.keys as Key[];
    expect(shown.map(({ id }) => id).sort()).toEqual([from.id, into.id, revoked.id].sort());
    expect((await operator("GET", "/bans?customer=merge+into")).body.bans).toMatchObject([
      { keyId: from.id },
    ]);
    expect((await operator("GET", "/links?customer=merge+into")).body.links).toEqual([]);
    const { audit } = (await operator("GET", `/audit?object=${from.customer?.id}&call=customers.merge`)).body;
    const id = into.customer?.id ?? "";
    expect(audit).toMatchObject([
      { before: { name: "Merge from" }, after: { into: id }, names: { [id]: "Merge into" } },
    ]);
    const ofKey = (await operator("GET", `/audit?object=${from.id}&call=keys.create`)).body.audit;
    expect(ofKey).toMatchObject([{ names: { [from.customer?.id ?? ""]: "Merge from" } }]);
  });
});

describe("an erasure", () => {
  const WEBHOOK = {
    ALERT_WEBHOOK_URL: "https://hooks.example/a",
    ALERT_WEBHOOK_SECRET: `whsec_${btoa("x".repeat(30))}`,
  };

  it("leaves nothing of name, address and notes in any table, and the use without a name", async ({
    expect,
  }) => {
    const secrets = ["Erika", "erika@muster.example", "owes", "Musterfrau", " 4711"];
    vi.stubGlobal("fetch", async () => new Response()); // the receiver of the alerts
    const watched = operatorOf(startApp(WEBHOOK));
    const own = { name: "Erika Muster", email: "erika@muster.example", note: "owes us" };
    const members = { ...bodyOf(newCustomer, 4711), ...own };
    expect((await operator("POST", "/customers", members)).body).toMatchObject(members);
    const key = await createKeyOf("erika muster", { name: "Erika's laptop", note: "owes a fee" });
    const merged = await createKeyOf("Erika Musterfrau");
    const moved = await createKeyOf("Erika Muster");
    await use(key, 2);
    await operator("PATCH", `/keys/${key.id}`, { name: "laptop of Erika", note: "still owes" });
    await watched("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "abuse" });
    await watched("POST", "/links", { customer: "Erika Muster", days: 2 });
    const lent = await createKeyOf("Erika Musterfrau");
    await watched("PUT", `/keys/${lent.id}/ban`, { seconds: 60, reason: "abuse" });
    await moveTo(lent, "Somebody");
    await operator("POST", `/customers/${merged.customer?.id}/merge`, { into: "Erika Muster" });
    await operator("PATCH", `/customers/${key.customer?.id}`, { name: "Erika M.", note: "owes us nothing" });
    await moveTo(moved, "Somebody");
    // As version 2.2 wrote entries, of keys that are this customer's or not, and of links.
    const old = env.DB.prepare(
      "insert into audit_log (at, request_id, actor, call, object, before, after) values (1, 'r', ?, ?, ?, ?, ?)",
    );
    await env.DB.batch([
      old.bind("owner (Erika Muster)", "keys.rotate", key.id, '{"hints":[]}', '{"hint":"x"}'),
      old.bind("owner (ERIKA MUSTER)", "keys.rotate", moved.id, '{"hints":[]}', '{"hint":"x"}'),
      old.bind("mo", "keys.update", moved.id, '{"ownerEmail":"erika@muster.example"}', '{"ownerEmail":null}'),
      old.bind(
        "mo",
        "keys.update",
        "key_other0000000",
        '{"ownerName":"Erika Musterfrau"}',
        '{"ownerName":"Max"}',
      ),
      old.bind(
        "mo",
        "links.create",
        "link_1",
        null,
        '{"owner":"erika muster","endsAt":"2040-01-01T00:00:00Z"}',
      ),
      old.bind("mo", "links.create", "link_2", null, '{"owner":"Max","endsAt":"2040-01-01T00:00:00Z"}'),
    ]);
    const path = `/customers/${key.customer?.id}`;
    const refused = await operator("POST", `${path}/erase`);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("laptop of Erika")]);
    for (const { id } of [key, merged]) await operator("DELETE", `/keys/${id}`);
    expect((await everyRow()).alerts).not.toEqual([]);
    const { status, body } = await operator("POST", `${path}/erase`);
    expect([status, body]).toMatchObject([200, { name: key.customer?.id, email: null, note: null }]);

    const stored = JSON.stringify(await everyRow());
    expect(secrets.filter((secret) => new RegExp(secret, "i").test(stored))).toEqual([]);
    expect(await customers(`customer=${key.customer?.id}`)).toMatchObject([
      { erasedAt: "2040-06-01T10:00:00Z", keys: 0, usage: { admitted: 2 } },
    ]);
    for (const kept of ['{"owner":"Max","endsAt":"2040-01-01T00:00:00Z"}', "abuse"])
      expect(stored).toContain(JSON.stringify(kept));
    const { audit } = (await operator("GET", `/audit?object=${key.id}`)).body;
    expect(JSON.stringify(audit)).toContain('"name":"erased"');
    // Nothing can be done to it, and erasing it again does nothing.
    expect((await operator("PATCH", path, { note: "x" })).status).toBe(409);
    expect((await operator("PATCH", `/keys/${moved.id}`, { customer: key.customer?.id })).status).toBe(400);
    expect((await operator("POST", `${path}/erase`)).status).toBe(200);
    expect((await createKeyOf("Erika M.")).customerCreated).toBe(true);
  });

  it("is refused if a key comes between, and is the only change of the audit log that SQL may make", async ({
    expect,
  }) => {
    const { body } = await operator("POST", "/customers", { name: "Late" });
    const late = writingAfter(() => createKeyOf("Late"));
    expect((await late("POST", `/customers/${body.id}/erase`)).status).toBe(409);
    expect((await customers("customer=Late"))[0]).toMatchObject({ keys: 1, erasedAt: null });
    const { id } = await createKey();
    await giveKeys("Late", id);
    await operator("PATCH", `/keys/${id}`, { note: "n", name: "x" });
    for (const set of [
      `after = '{"note":"erased","name":"y"}'`,
      `after = '{"note":"erased"}'`,
      "after = null",
      "actor = 'owner (erased)'",
      "at = at + 1",
    ]) {
      const change = env.DB.prepare(`update audit_log set ${set} where object = ?`).bind(id).run();
      await expect(change, set).rejects.toThrow("an audit entry cannot be changed");
    }
  });
});
