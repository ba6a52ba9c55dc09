/** Which calls of the admin API can change something. */
import { describe, it } from "vitest";
import { canChange } from "../../../src/worker/admin/can-change.ts";

describe("a request", () => {
  it("can change something, unless it is a read, a search or a dry run", ({ expect }) => {
    expect(canChange("POST", "/admin/keys", undefined)).toBe(true);
    for (const method of ["PATCH", "PUT", "DELETE"]) {
      expect(canChange(method, "/admin/keys/key_1", undefined)).toBe(true);
    }
    for (const method of ["GET", "HEAD"]) expect(canChange(method, "/admin/keys", undefined)).toBe(false);
    expect(canChange("POST", "/admin/keys/find", undefined)).toBe(false);
    for (const dryRun of ["", "true"]) expect(canChange("PATCH", "/admin/orders", dryRun)).toBe(false);
    expect(canChange("PATCH", "/admin/orders", "false")).toBe(true);
  });

  it("of a client is safe to repeat", ({ expect }) => {
    expect(canChange("DELETE", "/v1/store/orders/1", undefined)).toBe(false);
  });
});
