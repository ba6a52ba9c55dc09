/** The parsers for command-line arguments. */
import { InvalidArgumentError } from "commander";
import fc from "fast-check";
import { afterEach, describe, it, vi } from "vitest";
import { ArgumentsError } from "../../../src/cli/admin-client.ts";
import {
  dateOrMoment,
  digits,
  idInPath,
  limitOrNone,
  limitsBody,
  moment,
  refuseCredential,
  refuseKeys,
  seconds,
  secondsOrZero,
  textInAddress,
  waitSeconds,
  wholeNumber,
} from "../../../src/cli/commands/arguments.ts";
import { runAdmin } from "../../support/cli.ts";

describe("a duration", () => {
  it("is a number of seconds, minutes, hours or days", ({ expect }) => {
    expect(["90s", "30m", "24h", "7d", "0s"].map(seconds)).toEqual([90, 1_800, 86_400, 604_800, 0]);
  });

  it("of zero needs no unit where zero has a meaning of its own", ({ expect }) => {
    expect(["0", "0s", "24h"].map(secondsOrZero)).toEqual([0, 0, 86_400]);
    expect(() => secondsOrZero("24")).toThrow(InvalidArgumentError);
  });

  it("to wait for is one that a timer can have", ({ expect }) => {
    expect(["1s", "24d"].map(waitSeconds)).toEqual([1, 2_073_600]);
    for (const text of ["0s", "25d", "577h", "24"]) {
      expect(() => waitSeconds(text), text).toThrow(InvalidArgumentError);
    }
  });

  for (const text of ["", "24", "h", "1.5h", "-1h", "24 h", "24H", "1h30m", "1w", "1e3s", "9999999999s"]) {
    it(`is not ${JSON.stringify(text)}`, ({ expect }) => {
      expect(() => seconds(text)).toThrow(InvalidArgumentError);
    });
  }
});

describe("a whole number", () => {
  it("is exact up to the highest accepted number", ({ expect }) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (number) => {
        expect(wholeNumber(String(number))).toBe(number);
        expect(digits(String(number))).toBe(String(number));
      }),
    );
  });

  for (const text of ["", "-1", "+1", "1.0", "1e3", " 1", "0x10", "1_000", "1000000000000000", "none"]) {
    it(`is not ${JSON.stringify(text)}`, ({ expect }) => {
      expect(() => wholeNumber(text)).toThrow(InvalidArgumentError);
      expect(() => digits(text)).toThrow(InvalidArgumentError);
    });
  }
});

describe("limits", () => {
  it("are in the request body only if they were given, as null for none", ({ expect }) => {
    expect(limitsBody({})).toEqual({});
    expect(limitsBody({ perMinute: limitOrNone("5") })).toEqual({ requestsPerMinute: 5 });
    expect(limitsBody({ perMinute: limitOrNone("none"), perDay: limitOrNone("0") })).toEqual({
      requestsPerMinute: null,
      requestsPerDay: 0,
    });
  });

  it("are numbers or the word none", ({ expect }) => {
    expect(() => limitOrNone("None")).toThrow(InvalidArgumentError);
    expect(() => limitOrNone("")).toThrow(InvalidArgumentError);
  });
});

describe("a secret", () => {
  /** What follows `sok_`. */
  const RANDOM = "egBoqJXzCCpCTC8pW3kYf0uVd7sLh2nRxqyhjA";
  const KEY = `sok_${RANDOM}`;
  const TOKEN = "Zw8-7pQ/fL2+vN4kR9sT1xB6mC3hJ5yD";

  it("must not be an argument, also if it is cut or mistyped", ({ expect }) => {
    for (const text of [KEY, KEY.slice(0, -1), KEY.slice(0, 16), `--search=Bearer ${KEY}`, `${KEY}.ndjson`]) {
      expect(() => refuseKeys(["keys", text]), text).toThrow(ArgumentsError);
    }
    for (const text of [TOKEN, `--actor=${TOKEN}`]) {
      expect(() => refuseCredential(["audit", text], TOKEN), text).toThrow(/^The admin token, .* must not/);
    }
  });

  it("that is the admin token is repeated by no message, also as an address or a wrong option", async ({
    expect,
  }) => {
    for (const argv of [["--url", TOKEN, "keys", "list"], ["keys", "list", "--plan", TOKEN], [TOKEN]]) {
      const { code, out, err } = await runAdmin(argv, { ADMIN_TOKEN: TOKEN });
      expect([code, out, err]).toEqual([
        2,
        "",
        expect.stringMatching(/^error: The admin token, .* must not be/),
      ]);
    }
  });

  it("is not what ids, names, addresses, dates and ends of secrets look like", ({ expect }) => {
    const keyId = `key_0${"19a0b1c2d3e4f5a".repeat(3).slice(0, 31)}`;
    const ids = [
      keyId,
      `ban_${keyId}_1795190400000`,
      `imp_${"0f1e".repeat(8)}`,
      "imp_aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA",
      "4b1f0a6c93d2e857",
      "enterprise",
    ];
    expect(ids.map(idInPath)).toEqual(ids);
    const texts = [
      ...ids,
      RANDOM.slice(-12),
      "Donaudampfschifffahrtsgesellschaft",
      "jo3AnnR2d2Xk9@example.com",
      "2026-11-21T10:42:00Z",
      "admin token (ann)",
    ];
    expect(texts.map(textInAddress)).toEqual(texts);
    const argv = [
      ...texts,
      `sok_eg…${RANDOM.slice(-4)}`,
      "sok_eg...yhjA",
      "--search=acme",
      "https://orders.example.com",
      "./exports/orders-2026.ndjson",
    ];
    expect(() => refuseKeys(argv)).not.toThrow();
    expect(() => refuseCredential([...argv, TOKEN.slice(0, 12)], TOKEN)).not.toThrow();
    expect(() => refuseCredential(argv, undefined)).not.toThrow();
  });
});

describe("a moment", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is a time of today, or of yesterday if it has not come yet, or has a date; in UTC by default", ({
    expect,
  }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 21, 12) });
    expect(["10:42", "9:05", "12:00", "12:01", "23:59:59"].map(moment)).toEqual([
      "2026-11-21T10:42:00Z",
      "2026-11-21T09:05:00Z",
      "2026-11-21T12:00:00Z",
      "2026-11-20T12:01:00Z",
      "2026-11-20T23:59:59Z",
    ]);
    expect(["2026-01-02 10:42", "2026-01-02T10:42:30.5+02:00"].map(moment)).toEqual([
      "2026-01-02T10:42:00Z",
      "2026-01-02T10:42:30.5+02:00",
    ]);
    expect(["2026-01-02", "2026-01-02T10:42Z"].map(dateOrMoment)).toEqual([
      "2026-01-02",
      "2026-01-02T10:42:00Z",
    ]);
  });

  it("of a day that is another one at the offset is the last one too", ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 21, 22, 30) });
    expect(["00:10+02:00", "00:40+02:00", "23:00-05:00", "12:00+14:00"].map(moment)).toEqual([
      "2026-11-22T00:10:00+02:00",
      "2026-11-21T00:40:00+02:00",
      "2026-11-20T23:00:00-05:00",
      "2026-11-22T12:00:00+14:00",
    ]);
    vi.setSystemTime(Date.UTC(2026, 10, 21, 0, 30));
    expect(moment("22:00-05:00")).toBe("2026-11-19T22:00:00-05:00");
  });

  for (const text of ["", "now", "10", "25:00", "10:42:61", "2026-13-01T10:00", "2026-01-02"]) {
    it(`is not ${JSON.stringify(text)}`, ({ expect }) => {
      expect(() => moment(text)).toThrow(InvalidArgumentError);
    });
  }
});
