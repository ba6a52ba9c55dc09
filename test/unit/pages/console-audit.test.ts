/** The console's audit log: what it reads of the admin API's answers. */
import { afterEach, describe, it, vi } from "vitest";
import { adminClient } from "../../../src/pages/console/admin-client.ts";
import { listAudit } from "../../../src/pages/console/audit/audit-query.ts";

afterEach(() => vi.unstubAllGlobals());

describe("the audit log", () => {
  it("has all digits of an order's integers", async ({ expect }) => {
    const order = '{"id":9223372036854775807,"petId":-9007199254740993,"quantity":2,"complete":true}';
    vi.stubGlobal("fetch", async () => new Response(`{"audit":[{"id":7,"before":${order}}],"next":null}`));
    const client = adminClient({ token: "t", operator: "mo" });
    expect(await listAudit(client, {}, 50)).toEqual({
      audit: [
        {
          id: 7,
          before: { id: "9223372036854775807", petId: "-9007199254740993", quantity: 2, complete: true },
        },
      ],
      next: null,
    });
  });
});
