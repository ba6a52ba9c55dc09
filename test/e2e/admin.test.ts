/** The admin API over HTTP: a new key, and bytes that only the wire has. */
import { beforeAll, describe, it } from "vitest";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

describe("the header X-Operator", () => {
  // The runtime decodes headers, so only bytes that were sent show what arrives.
  it("has a name in UTF-8, which the audit log shows; other bytes are a 400", async ({ expect }) => {
    const { id } = await service.createKey();
    const actorFor = async (name: Buffer) => {
      const headers = { "X-Operator": name.toString("latin1") };
      const init = { method: "PATCH", headers, body: '{"note":"named"}' };
      const { status } = await service.call(ADMIN_TOKEN, `/admin/keys/${id}`, init);
      const { body } = await service.admin("GET", `/audit?object=${id}&limit=1`);
      return status === 200 ? body.audit : status;
    };
    for (const name of ["Zoë", "Zoë Зоя"])
      expect(await actorFor(Buffer.from(name))).toMatchObject([{ actor: name }]);
    for (const name of [Buffer.from("Zoë", "latin1"), Buffer.from([0xd0, 0x97, 0xff])])
      expect(await actorFor(name)).toBe(400);
  });
});

it("a key is issued with 201, its location and its secret, which is valid at once", async ({ expect }) => {
  const { status, headers, body } = await service.admin("POST", "/keys", { name: "acme", plan: "pro" });
  expect([status, headers.get("Location")]).toEqual([201, `/admin/keys/${body.id}`]);
  expect(headers.get("Cache-Control")).toBe("no-store");
  expect((await service.call(body.key, LIST)).status).toBe(200);
});
