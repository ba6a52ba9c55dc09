/** Which calls of the admin API can change something. */
import { describe, it } from "vitest";
import { canChange } from "../../../src/worker/admin/can-change.ts";

const can = (method: string, path: string) => canChange(method, `https://orders.example${path}`);

describe("a request", () => {
  it("can change something, unless it is a read, a search or a dry run", ({ expect }) => {
    for (const path of ["/admin/keys", "/admin/orders?import=imp_1&from=0"])
      expect(can("POST", path)).toBe(true);
    for (const method of ["PATCH", "PUT", "DELETE"]) expect(can(method, "/admin/keys/key_1")).toBe(true);
    for (const method of ["GET", "HEAD"]) expect(can(method, "/admin/keys")).toBe(false);
    expect(can("POST", "/admin/keys/find")).toBe(false);
    for (const path of ["/admin/orders?dry-run", "/admin/plans/pro?dry-run=true"])
      expect(can("PATCH", path)).toBe(false);
  });

  it("of a client is safe to repeat", ({ expect }) => {
    expect(can("DELETE", "/v1/store/orders/1")).toBe(false);
  });
});
