/** Checking one order of a load, and the reasons why it is refused. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { orderChecker, parseDigits } from "../../../../src/worker/admin/orders/loaded-order.ts";
import { ORDER_STATUSES } from "../../../../src/worker/db/values.ts";
import { describeProblems } from "../../../../src/worker/text/check-schema.ts";

const INT64 = "must be a whole number of 64 bits, in digits";

const parse = (text: string) => orderChecker("line")(parseDigits(text), 1);

function reasonFor(text: string): string {
  const checked = parse(text);
  return checked.ok ? "accepted" : describeProblems(checked.problems);
}

const SECRETS = [
  `sok_${"k".repeat(45)}`,
  `Bearer sok_${"k".repeat(45)}`,
  "t".repeat(32),
  `whsec_${"A".repeat(32)}`,
];

describe("an order", () => {
  it("keeps every digit of an int64, which is a number or text", ({ expect }) => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 63n - 1n), fc.constantFrom("", '"'), (number, quote) => {
        const digits = number.toString();
        const json = `${quote}${digits}${quote}`;
        const checked = parse(`{"id":${json},"petId":${json},"quantity":${json}}`);
        expect(checked).toEqual({ ok: true, output: { id: digits, petId: digits, quantity: digits } });
      }),
      { examples: [[9223372036854775807n, '"'] as const, [9007199254740993n, ""] as const] },
    );
    expect(parse('{"id":-9223372036854775808}')).toMatchObject({ output: { id: "-9223372036854775808" } });
  });

  it("needs only an id, and tells an absent member from null", ({ expect }) => {
    expect(parse('{"id":1}')).toEqual({ ok: true, output: { id: "1" } });
    const none = { petId: null, quantity: null, shipDate: null, complete: null, status: null };
    expect(parse(JSON.stringify({ id: 1, ...none }))).toEqual({ ok: true, output: { id: "1", ...none } });
    expect(parse('{"id":1,"complete":false}')).toMatchObject({ output: { complete: false } });
    for (const status of ORDER_STATUSES)
      expect(parse(`{"id":1,"status":"${status}"}`)).toMatchObject({ output: { status } });
  });
});

describe("a refused order", () => {
  const STATUSES = "must be one of pending, processing, shipped, delivered";

  it.for<[member: string, must: string, values: readonly string[]]>([
    ...["id", "petId", "quantity"].map((member): [string, string, string[]] => [
      member,
      INT64,
      ["1.5", "-0", "9223372036854775808", '"1.0"', '""', "true", "[1]"],
    ]),
    ["quantity", "must not be below 0", ["-1"]],
    [
      "shipDate",
      "must be an RFC 3339 date-time that exists, with its time zone",
      ["1", '"2026-02-30T10:00:00Z"', '["2026-11-21T10:00:00Z"]'],
    ],
    ["complete", "must be true or false", ["1", "0", '"true"', "[]"]],
    ["status", STATUSES, ['"cancelled"', '"Pending"', '""', "1", "true"]],
    ...["price", "Id", "__proto__", "constructor", "toString"].map((member): [string, string, string[]] => [
      member,
      "is not a known field",
      ["1"],
    ]),
  ])("names what is wrong: %s %s", ([member, must, values], { expect }) => {
    const others = member === "id" ? "" : '"id":1,';
    for (const value of values)
      expect(reasonFor(`{${others}"${member}":${value}}`), value).toBe(`${member}: ${must}`);
  });

  it("is not an object, or has no id", ({ expect }) => {
    for (const text of ["1", "null", "true", '"id"', "[]", '[{"id":1}]', "9223372036854775807"])
      expect(reasonFor(text), text).toBe("is not a JSON object");
    expect(reasonFor("{}")).toBe("id: is required");
    expect(reasonFor('{"id":null}')).toBe(`id: ${INT64}`);
  });

  it("has an unknown member whose name is shown without control characters, and not if it is a secret", ({
    expect,
  }) => {
    expect(reasonFor(JSON.stringify({ id: 1, "\u001b[2J\u202e\u0085;x": 1 }))).toBe(
      "?[2J??;x: is not a known field",
    );
    for (const secret of SECRETS) {
      const reason = reasonFor(JSON.stringify({ id: 1, [secret]: 1 }));
      expect(reason).toMatch(/: is not a known field$/);
      expect(reason).not.toContain(secret.slice(-12));
    }
  });

  it("has all its problems in the reason, and the first of the unknown members", ({ expect }) => {
    expect(reasonFor('{"petId":"x","complete":1,"price":5,"colour":"red"}').split("; ")).toEqual([
      "id: is required",
      `petId: ${INT64}`,
      "complete: must be true or false",
      "price: is not a known field",
    ]);
  });
});
