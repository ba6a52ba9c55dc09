/** The console's times: UTC in addresses, local in the fields of forms. */
import { afterEach, describe, it, vi } from "vitest";
import { auditQueryOf } from "../../../src/pages/console/audit/audit-query.ts";
import { fieldTimeOf, utcOf, utcOfField } from "../../../src/pages/console/local-time.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the time in an address", () => {
  it("is the same for a colleague in another time zone", ({ expect }) => {
    vi.stubEnv("TZ", "America/New_York");
    const at = utcOf("2026-11-21T10:42");
    expect(at).toBe("2026-11-21T15:42:00Z");
    vi.stubEnv("TZ", "Asia/Tokyo");
    expect(fieldTimeOf(at)).toBe("2026-11-22T00:42");
    expect(utcOf(fieldTimeOf(at))).toBe(at);
    expect(auditQueryOf({ from: "2026-11-21T15:42:00Z", to: "2026-11-22T15:42:07Z" })).toEqual({
      from: "2026-11-21T15:42:00Z",
      to: "2026-11-22T15:42:07Z",
    });
  });

  it("is kept while its field shows it, with its seconds, and in the hour that summer time has twice", ({
    expect,
  }) => {
    vi.stubEnv("TZ", "Europe/Berlin");
    for (const at of ["2026-10-25T00:30:45Z", "2026-10-25T01:30:45Z"]) {
      expect(fieldTimeOf(at)).toBe("2026-10-25T02:30");
      expect(utcOfField("2026-10-25T02:30", at)).toBe(at);
      expect(utcOfField("2026-10-25T03:30", at)).toBe("2026-10-25T02:30:00Z");
      expect(utcOfField("", at)).toBeUndefined();
    }
    for (const none of [undefined, "yesterday"]) {
      expect(utcOfField("", none)).toBeUndefined();
      expect(utcOfField("2026-10-25T03:30", none)).toBe("2026-10-25T02:30:00Z");
    }
  });

  it("is left out if it is none", ({ expect }) => {
    for (const text of [undefined, "", "yesterday", "2026-13-01T10:42Z", "1", "2026-11-21T10:42:00+01:00"]) {
      expect(utcOf(text), text).toBeUndefined();
      expect(fieldTimeOf(text), text).toBe("");
    }
  });
});
