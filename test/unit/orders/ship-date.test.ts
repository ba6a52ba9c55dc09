/** Ship dates: every accepted form becomes one format, everything else is refused. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { normaliseShipDate } from "../../../src/worker/orders/ship-date.ts";

describe("a ship date", () => {
  const forms = [
    ["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21t10:00:00z", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00:00.5Z", "2026-11-21T10:00:00.500Z"],
    ["2026-11-21T10:00:00.123456789Z", "2026-11-21T10:00:00.123Z"],
    ["2026-11-21T10:00:00.9999Z", "2026-11-21T10:00:00.999Z"],
    ["2026-11-21T12:00:00+02:00", "2026-11-21T10:00:00.000Z"],
    ["2026-11-20T23:30:00-10:30", "2026-11-21T10:00:00.000Z"],
    ["2026-12-31T23:59:59.999-00:01", "2027-01-01T00:00:59.999Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
    ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
    ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ] as const;
  for (const [text, normalised] of forms) {
    it(`${text} is ${normalised}`, ({ expect }) => {
      expect(normaliseShipDate(text)).toBe(normalised);
    });
  }

  it("is the same moment as in Date, for any offset", ({ expect }) => {
    const day = 86_400_000;
    const moment = fc.date({
      min: new Date(Date.UTC(1, 0, 1)),
      max: new Date(Date.UTC(9999, 11, 30)),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moment, fc.integer({ min: -1439, max: 1439 }), (at, offsetMinutes) => {
        const local = new Date(at.getTime() + offsetMinutes * 60_000).toISOString().slice(0, -1);
        fc.pre(local.length === 23 && at.getTime() > Date.UTC(1, 0, 1) - day);
        const minutes = Math.abs(offsetMinutes);
        const pad = (number: number) => String(number).padStart(2, "0");
        const offset = `${offsetMinutes < 0 ? "-" : "+"}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
        expect(normaliseShipDate(local + offset)).toBe(at.toISOString());
      }),
    );
  });

  it("is valid on each day of each month, and on no other", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.integer({ min: 0, max: 13 }),
        fc.integer({ min: 0, max: 32 }),
        (year, month, day) => {
          const [yyyy, mm, dd] = [String(year).padStart(4, "0"), `0${month}`.slice(-2), `0${day}`.slice(-2)];
          const text = `${yyyy}-${mm}-${dd}T12:00:00.000Z`;
          // For a day that does not exist, setting the fields rolls over to another day.
          const rolled = new Date(0);
          rolled.setUTCFullYear(year, month - 1, day);
          rolled.setUTCHours(12);
          const exists = rolled.getUTCMonth() === month - 1 && rolled.getUTCDate() === day;
          expect(normaliseShipDate(text)).toBe(exists ? text : undefined);
        },
      ),
      {
        numRuns: 2_000,
        examples: [
          [2026, 2, 29],
          [1900, 2, 29],
          [2026, 2, 30],
          [2026, 4, 31],
        ],
      },
    );
  });

  const refused = [
    "",
    "2026-11-21",
    "2026-11-21T10:00Z",
    "2026-11-21T10:00:00",
    "2026-11-21 10:00:00Z",
    "2026-11-21T10:00:00.Z",
    "2026-11-21T24:00:00Z",
    "2026-11-21T10:60:00Z",
    "2026-11-21T10:00:60Z",
    "2026-11-21T10:00:00+24:00",
    "2026-11-21T10:00:00+02:60",
    "2026-11-21T10:00:00+0200",
    "2026-11-21T10:00:00+02",
    "26-11-21T10:00:00Z",
    "+002026-11-21T10:00:00Z",
    "2026-11-21T10:00:00Z\n",
    " 2026-11-21T10:00:00Z",
    "2026-1-21T10:00:00Z",
    "２026-11-21T10:00:00Z",
    "Sat, 21 Nov 2026 10:00:00 GMT",
    // Valid moments whose UTC year has no four digits.
    "0000-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
  ];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)}`, ({ expect }) => {
      expect(normaliseShipDate(text)).toBeUndefined();
    });
  }

  it("is not changed by a second normalisation", ({ expect }) => {
    for (const [text] of forms) {
      const once = normaliseShipDate(text) ?? "";
      expect(normaliseShipDate(once)).toBe(once);
    }
  });
});
