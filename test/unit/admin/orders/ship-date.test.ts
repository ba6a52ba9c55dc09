/** Ship dates: every accepted form becomes one format, everything else is refused. */
import { describe, it } from "vitest";
import { normaliseShipDate } from "../../../../src/worker/admin/orders/loaded-order.ts";

describe("a ship date", () => {
  for (const [text, normalised] of [
    ["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00:00.123456789Z", "2026-11-21T10:00:00.123Z"],
    ["2026-11-21T12:00:00+02:00", "2026-11-21T10:00:00.000Z"],
    ["2026-12-31T23:59:59.999-00:01", "2027-01-01T00:00:59.999Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
    ["2026-11-21t10:00:00.5z", "2026-11-21T10:00:00.500Z"],
    ["2026-11-21 10:00:00-00:00", "2026-11-21T10:00:00.000Z"],
    ["1990-12-31T15:59:60-08:00", "1990-12-31T23:59:59.999Z"], // a leap second, of the RFC
  ] as const) {
    it(`${text} is ${normalised}`, ({ expect }) => {
      expect(normaliseShipDate(text)).toBe(normalised);
      expect(normaliseShipDate(normalised)).toBe(normalised);
    });
  }

  for (const text of [
    "",
    "2026-11-21",
    "2026-11-21T10:00:00",
    "2026-11-21T24:00:00Z",
    "2026-11-21T10:00:00+02",
    "2026-11-21T10:00:00+0200",
    "2026-11-21T10:00:00+24:00",
    "2026-11-21T10:00:00.Z",
    "2026-11-21T10:00:00,5Z",
    "2026-11-21T10:00Z",
    "2026-11-21  10:00:00Z",
    "2026-11-21T10:60:00Z",
    "2026-11-21T10:00:60Z",
    "2026-12-31T23:59:60+01:00",
    "2026-12-31T23:59:61Z",
    "+02026-11-21T10:00:00Z",
    " 2026-11-21T10:00:00Z",
    "2026-11-21T10:00:00Z\n",
    "２０２６-11-21T10:00:00Z",
    "2026-02-29T10:00:00Z",
    "1900-02-29T10:00:00Z",
    "2026-04-31T10:00:00Z",
    "Sat, 21 Nov 2026 10:00:00 GMT",
    // Valid moments whose UTC year has no four digits.
    "0000-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
  ]) {
    it(`refuses ${JSON.stringify(text)}`, ({ expect }) => {
      expect(normaliseShipDate(text)).toBeUndefined();
    });
  }
});
