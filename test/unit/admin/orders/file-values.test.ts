/** The forms of times and booleans that a file may have, and what a load says of numbers. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { checkFile } from "../../../../src/worker/admin/orders/file/check.ts";
import { readOrders } from "../../../../src/worker/admin/orders/file/read.ts";
import { areRounded, isOfDouble } from "../../../../src/worker/admin/orders/file/rounded.ts";
import { readValues } from "../../../../src/worker/admin/orders/file/values.ts";

const read = (value: object) => readValues(value);

describe("a ship date of a file", () => {
  for (const [text, normalised] of [
    ["2026-12-04 09:00:00+00", "2026-12-04T09:00:00.000Z"], // PostgreSQL
    ["2026-12-04 09:00:00.123-03", "2026-12-04T12:00:00.123Z"],
    ["2026-12-04T14:30:00.123000+0530", "2026-12-04T09:00:00.123Z"], // polars
    ["2026-12-04 10:00:00 +0100", "2026-12-04T09:00:00.000Z"], // Ruby
    ["2026-12-04 09:00:00 +0000 UTC", "2026-12-04T09:00:00.000Z"], // Go
    ["2026-12-04 09:00:00 UTC", "2026-12-04T09:00:00.000Z"], // BigQuery
    ["2026-12-04T09:00Z", "2026-12-04T09:00:00.000Z"], // d3
    ["2026-12-04T09:00:00.123Z", "2026-12-04T09:00:00.123Z"],
  ] as const) {
    it(`${text} is ${normalised}`, ({ expect }) => {
      expect(read({ shipDate: text })).toEqual({ value: { shipDate: normalised }, forms: [] });
    });
  }

  it("without a time is midnight UTC, and digits beyond milliseconds are cut: both are counted", ({
    expect,
  }) => {
    const midnight = { shipDate: "2026-12-04T00:00:00.000Z" };
    expect(read({ shipDate: "2026-12-04" })).toEqual({ value: midnight, forms: ["a day without a time"] });
    const cut = { shipDate: "2026-12-04T09:00:00.123Z" };
    expect(read({ shipDate: "2026-12-04T09:00:00.1230001Z" })).toEqual({
      value: cut,
      forms: ["digits beyond milliseconds"],
    });
    expect(read({ shipDate: "2026-12-04T09:00:00.123000Z" })).toEqual({ value: cut, forms: [] });
  });

  for (const text of [
    ...["2026-12-04 09:00:00", "2026-12-04T09:00:00.123456", "2026/12/04 09:00:00", "04.12.2026 09:00"],
    ...["1796374800123", "2026-02-30", "2026-12-04T09:00:00+25", "2026-12-04T24:00:00Z"],
    "Fri Dec 04 2026 09:00:00 GMT+0000 (Coordinated Universal Time)",
  ]) {
    it(`${text} is refused`, async ({ expect }) => {
      const [line] = await Array.fromAsync(readOrders(bytes(JSON.stringify({ id: 1, shipDate: text }))));
      expect(line && "reason" in line && line.reason).toContain(`, not ${JSON.stringify(text)}`);
    });
  }
});

async function* bytes(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}

describe("complete", () => {
  it("has the words of databases, spreadsheets and data frames", ({ expect }) => {
    for (const word of ["t", "true", "TRUE", "True", "yes", "y", "1"])
      expect(read({ complete: word }).value).toEqual({ complete: true });
    for (const word of ["f", "false", "FALSE", "no", "N", "0"])
      expect(read({ complete: word }).value).toEqual({ complete: false });
    for (const word of ["WAHR", "2", "1.0", "on", "-"])
      expect(read({ complete: word }).value).toEqual({ complete: word });
  });

  it("that is an empty text takes the value away, as does each member", ({ expect }) => {
    expect(read({ complete: "", petId: "", status: "" }).value).toEqual({
      complete: null,
      petId: null,
      status: null,
    });
  });
});

const check = (text: string, allowsRounded = false) =>
  checkFile(readOrders(bytes(text)), { orders: 100, refused: 100, refusedChars: 1_000 }, allowsRounded);

describe("what a load says", () => {
  it("of a column complete that may lack its false", async ({ expect }) => {
    expect(await check("id,complete\n1,1\n2,\n")).toMatchObject({ kind: "wrong" });
    expect(await check('{"id":1,"complete":1}\n{"id":2,"complete":""}')).toMatchObject({ kind: "wrong" });
    for (const column of ["1,1\n2,\n3,0", "1,1\n2,1", "1,true\n2,", "1,\n2,0"])
      expect(await check(`id,complete\n${column}`)).toMatchObject({ kind: "ready", notes: [] });
    const note = expect.stringContaining("The column complete is empty in every line");
    expect(await check("id,complete\n1,\n2,\n")).toMatchObject({ kind: "ready", notes: [note] });
  });

  it("of days, long quantities and ids that clients round", async ({ expect }) => {
    const rows = [
      "id,quantity,shipDate",
      "9007199254740993,2147483648,2026-12-04",
      "9007199254740992,2147483647,",
    ];
    expect(await check(rows.join("\n"))).toMatchObject({
      notes: [
        "1 date without a time was read as midnight UTC.",
        expect.stringMatching(/^1 quantity above 2,147,483,647/),
        expect.stringMatching(/^2 ids of 2\^53 or more/),
      ],
    });
  });

  const DOUBLES = ["1765000000000000256", "1765000000000000512", "9007199254740994", "-9007199254740996"];
  const CELLS = ["1765000000000000", "9223372036854770000", "1234567890123450", "1234567890123460"];
  it.for([
    [DOUBLES, "ready"],
    [[...DOUBLES, "9007199254740998", "1234567890123457"], "rounded"],
    [[...DOUBLES, "9007199254740998", "9007199254740999"], "ready"],
    [CELLS, "ready"],
    [[...CELLS, "-1234567890123460"], "rounded"],
    [[...CELLS, "-1234567890123460", "1234567890123457"], "ready"],
  ] as const)(
    "of five or more long numbers that rounding makes, and no other: %j",
    async ([numbers, kind], { expect }) => {
      const ids = ["id", ...numbers, 1, 2].join("\n");
      const pets = ["id,petId", ...[...numbers, ...numbers].map((number, i) => `${i},${number}`)].join("\n");
      for (const file of [ids, pets]) {
        expect(await check(file)).toMatchObject({ kind });
        expect(await check(file, true)).toMatchObject({ kind: "ready" });
      }
    },
  );
});

describe("a number that a program rounds", () => {
  const long = fc.bigInt(2n ** 53n, 2n ** 63n - 2_000n).map(String);
  const ways: Readonly<Record<string, (digits: string) => string>> = {
    "a double, in the fewest digits": (digits) => String(Number(digits)),
    "a double, with its value": (digits) => String(BigInt(Number(digits))),
    "a double, in 17 digits": (digits) => {
      const [shown = "", exponent] = Number(digits).toExponential(16).split("e");
      return shown
        .replace(".", "")
        .slice(0, Number(exponent) + 1)
        .padEnd(Number(exponent) + 1, "0");
    },
    "15 digits, then zeros": (digits) => digits.slice(0, 15).padEnd(digits.length, "0"),
    "15 digits of a double, rounded": (digits) => {
      const [shown = "", exponent] = Number(digits).toExponential(14).split("e");
      return shown.replace(".", "").padEnd(Number(exponent) + 1, "0");
    },
  };

  it.for(Object.entries(ways))("is one that rounding makes: %s", ([, round], { expect }) => {
    fc.assert(
      fc.property(fc.uniqueArray(long, { minLength: 20 }), (digits) => {
        const rounded = digits.map((each) => BigInt(round(each)));
        expect([rounded, rounded.map((each) => -each)].map(areRounded)).toEqual([true, true]);
      }),
    );
  });

  it("is none that a program would not write", ({ expect }) => {
    for (const number of [9007199254740993n, 1234567890123456n, 100_000n, 1765000000000000100n])
      expect([number, isOfDouble(number)]).toEqual([number, false]);
  });
});
