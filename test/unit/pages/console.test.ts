/** The pure parts of the console: problems, addresses, orders, days and stacked bars. */
import { afterEach, describe, it, vi } from "vitest";
import {
  expiryFieldOf,
  expiryTextOf,
  lastUsedText,
  limitFieldOf,
} from "../../../src/pages/console/keys/key-types.ts";
import { listQueryOf } from "../../../src/pages/console/keys/list-query.ts";
import { isEndOfSecret, searchTextOf } from "../../../src/pages/console/keys/search-text.ts";
import { isBackwards, parseOrder } from "../../../src/pages/console/orders/order-types.ts";
import { splitOrders } from "../../../src/pages/console/orders/split-orders.ts";
import { lastDays } from "../../../src/pages/console/overview/days.ts";
import { asProblem, mayBeMade, Problem, problemOf } from "../../../src/pages/console/problem.ts";
import { addressOf } from "../../../src/pages/console/query.ts";
import { stack } from "../../../src/pages/console/usage/stack.ts";
import { formatNumber } from "../../../src/pages/shared/format.ts";
import { HINT } from "../../../src/worker/admin/key-search.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

const errorBody = (message: string) => JSON.stringify({ code: "any", message, status: 0 });

describe("a failed call", () => {
  it("becomes a problem of a kind, by its status", ({ expect }) => {
    const statuses = [0, 302, 400, 401, 404, 408, 409, 429, 500, 503];
    expect(statuses.map((status) => problemOf(status, errorBody("M.")).kind)).toEqual([
      "redirected",
      "redirected",
      "invalid",
      "unauthorized",
      "not-found",
      "cut-off",
      "conflict",
      "too-many-attempts",
      "failed",
      "unavailable",
    ]);
    expect(problemOf(404, errorBody("The requested resource could not be found.")).kind).toBe("no-admin-api");
  });

  it("may have changed something, unless the service refused it", ({ expect }) => {
    const statuses = [0, 302, 400, 401, 404, 408, 409, 429, 500, 503];
    const open = statuses.filter((status) => mayBeMade(problemOf(status, errorBody("M."))));
    expect(open).toEqual([0, 302, 408, 500, 503]);
    expect(mayBeMade(problemOf(404, errorBody("The requested resource could not be found.")))).toBe(false);
    expect(mayBeMade(new SyntaxError("The answer is no JSON."))).toBe(true);
  });

  it("of several calls may have changed something in the earlier ones, unless its input is not valid", ({
    expect,
  }) => {
    const kinds = [400, 401, 409, 429].filter((status) =>
      mayBeMade(problemOf(status, errorBody("M.")), true),
    );
    expect(kinds).toEqual([401, 409, 429]);
  });

  it("has the service's message, or one of its own", ({ expect }) => {
    expect(problemOf(409, errorBody("The key is revoked.")).message).toBe("The key is revoked.");
    expect(problemOf(500, "<html>").message).toBe("The service answered 500.");
    expect(problemOf(503, '"text"').message).toBe("The service is not available for the moment.");
    for (const status of [500, 502, 503, 504, 524]) {
      const { advice } = problemOf(status, "null");
      expect(advice).toMatch(/^Try again.* after a change, first look whether it was made\./i);
    }
  });

  it("is a problem also if something else is thrown, whose message is not shown", ({ expect }) => {
    const reported: unknown[] = [];
    vi.stubGlobal("reportError", (error: unknown) => reported.push(error));
    const problem = new Problem("invalid", "It is not valid.", "Correct it.");
    expect(asProblem(problem)).toBe(problem);
    expect(reported).toEqual([]);
    const error = new SyntaxError("Unexpected token in sok_1234");
    expect(asProblem(error)).toMatchObject({ kind: "failed", message: "Something unexpected happened." });
    expect(reported).toEqual([error]);
  });
});

describe("an address", () => {
  it("leaves out what is empty", ({ expect }) => {
    expect(addressOf("/console/keys", { plan: "pro", after: "", name: undefined })).toBe(
      "/console/keys?plan=pro",
    );
    expect(addressOf("/console/keys", {})).toBe("/console/keys");
    expect(addressOf("/a", { name: "a & b" })).toBe("/a?name=a+%26+b");
  });
});

describe("a search for a key", () => {
  const kindOf = (text: string) => searchTextOf(text).kind;
  const secret = `sok_${"a1".repeat(22)}b`;
  /** What follows `sok_`. */
  const RANDOM = "egBoqJXzCCpCTC8pW3kYf0uVd7sLh2nRxqyhjA";

  it("takes an id, a whole secret, a masked one, or text", ({ expect }) => {
    for (const typed of [` ${secret} `, `Authorization: Bearer ${secret}`, `KEY="${secret}"`]) {
      expect(searchTextOf(typed)).toEqual({ kind: "secret", secret });
    }
    expect(kindOf(`key_0TzQ3xYb4Kd9`)).toBe("id");
    expect(["sok_eg…yhjA", "sok_eg...yhjA"].map(kindOf)).toEqual(["hint", "hint"]);
    expect(searchTextOf(" acme ")).toEqual({ kind: "text", text: "acme" });
  });

  it("takes a secret out of what surrounds it, so that it is hashed, not sent", ({ expect }) => {
    const pasted = [
      `Bearer ${secret}`,
      `curl -H "Authorization: Bearer ${secret}" /v1`,
      `'${secret}'`,
      `${secret}\n${secret}`,
    ];
    expect(pasted.map(searchTextOf)).toEqual(pasted.map(() => ({ kind: "secret", secret })));
  });

  it("takes the end of a secret after the mask", ({ expect }) => {
    expect(["…yhjA", "...yhjA"].map(searchTextOf)).toEqual(Array(2).fill({ kind: "hint", hint: "yhjA" }));
  });

  it("may be the end of a secret if the admin API takes it as one", ({ expect }) => {
    const ends = ["yhj", "yhjA", "1yhjA", RANDOM.slice(-12), RANDOM.slice(-13), "a bc", "yhj-A", "Zoëy"];
    expect(ends.map(isEndOfSecret)).toEqual(ends.map((end) => HINT.test(end)));
    expect(ends.filter(isEndOfSecret)).toEqual(["yhjA", "1yhjA", RANDOM.slice(-12)]);
  });

  it("becomes a query, without what the admin API does not know", ({ expect }) => {
    const nowMs = Date.parse("2026-11-21T12:00:00Z");
    expect(listQueryOf({ plan: "pro", status: "lost", sort: "owner", time: "expiring" }, nowMs)).toEqual({
      plan: "pro",
      sort: "owner",
      expiringBefore: "2026-12-21T12:00:01.000Z",
    });
    expect(listQueryOf({ time: "unused", search: "a", after: "b" }, nowMs)).toEqual({
      unusedSince: "2026-10-22",
      search: "a",
      after: "b",
    });
  });
});

describe("the last use of a key", () => {
  it("is never only if it has no first use: its usage may be deleted or not reported yet", ({ expect }) => {
    const firstUsedAt = "2026-11-21T14:58:47Z";
    expect(lastUsedText({ firstUsedAt: null, lastUsedDay: null })).toBe("never");
    expect(lastUsedText({ firstUsedAt, lastUsedDay: null })).toBe("–");
    expect(lastUsedText({ firstUsedAt, lastUsedDay: "2026-11-22" })).toBe("2026-11-22");
  });
});

describe("the field of a key's own limit", () => {
  it("is required only if the plan has no limit of its own, whichever plan that is", ({ expect }) => {
    expect(limitFieldOf(null)).toEqual({ required: true, hint: "The plan has no limit of its own." });
    expect(limitFieldOf(50_000)).toEqual({
      required: false,
      hint: `Empty: the plan's limit, ${formatNumber(50_000)}.`,
    });
    expect(limitFieldOf(undefined)).toEqual({ required: false, hint: "Empty: the plan's limit." });
  });
});

describe("the field of a key's expiry", () => {
  it("shows the stored time, and is a change as soon as a day is chosen, also the same one", ({ expect }) => {
    expect([null, "2026-12-01T00:00:00Z"].map(expiryTextOf)).toEqual(["", "2026-12-01"]);
    const text = expiryTextOf("2026-12-01T15:30:00Z");
    expect(text).toBe("2026-12-01T15:30:00Z");
    expect(expiryFieldOf(text)).toEqual({
      value: "2026-12-01",
      hint: "At 15:30:00 UTC of this day, until it is changed or removed; a day that is chosen begins at 00:00 UTC. Empty: never.",
    });
    expect(expiryFieldOf("2026-12-01")).toEqual({
      value: "2026-12-01",
      hint: "At 00:00 UTC of this day. Empty: never.",
    });
    expect(expiryFieldOf("").value).toBe("");
  });
});

describe("a file of orders", () => {
  it("is split by line, which keeps its number and its digits", ({ expect }) => {
    expect(splitOrders('\ufeff{"id":9007199254740993}\r\n\n{"id":2}\n')).toEqual([
      { number: 1, json: '{"id":9007199254740993}' },
      { number: 3, json: '{"id":2}' },
    ]);
  });

  it("is split by element, which keeps its digits", ({ expect }) => {
    expect(splitOrders(' [{"id":9007199254740993,\n"petId":1}, 7]')).toEqual([
      { number: 1, json: '{"id":9007199254740993,"petId":1}' },
      { number: 2, json: "7" },
    ]);
    expect(() => splitOrders('[{"id":1}')).toThrow(SyntaxError);
  });
});

describe("an order", () => {
  it("has its integers as text", ({ expect }) => {
    const text = '{"id":9223372036854775807,"petId":null,"quantity":2,"complete":true,"status":"shipped"}';
    expect(parseOrder(text)).toMatchObject({
      id: "9223372036854775807",
      petId: null,
      quantity: "2",
      complete: true,
    });
  });

  it("goes backwards when a later status is followed by an earlier one", ({ expect }) => {
    expect(isBackwards("shipped", "pending")).toBe(true);
    expect(isBackwards("pending", "delivered")).toBe(false);
    expect(isBackwards("shipped", "shipped")).toBe(false);
  });
});

describe("usage", () => {
  it("has UTC days, today last", ({ expect }) => {
    expect(lastDays(3, Date.parse("2026-03-01T00:30:00Z"))).toEqual([
      "2026-02-27",
      "2026-02-28",
      "2026-03-01",
    ]);
  });

  it("is stacked: each series ends above the one below", ({ expect }) => {
    expect(
      stack([
        [1, 2, 3],
        [4, 0, 1],
      ]),
    ).toEqual([
      [1, 4],
      [3, 4],
      [6, 5],
    ]);
    expect(stack([])).toEqual([]);
  });
});
