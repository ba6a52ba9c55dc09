/** Files as tools wrote them (test/fixtures/files), each made of the same five orders. */
import { readFileSync } from "node:fs";
import { describe, it } from "vitest";
import { checkFile } from "../../../../src/worker/admin/orders/file/check.ts";
import { readOrders } from "../../../../src/worker/admin/orders/file/read.ts";
import { isLong, isOfDouble, isOfSafeDigits } from "../../../../src/worker/admin/orders/file/rounded.ts";
import type { LoadedOrder } from "../../../../src/worker/admin/orders/loaded-order.ts";

const LIMITS = { orders: 1_000, refused: 1_000, refusedChars: 100_000 };

const readFixture = (name: string) =>
  async function* () {
    yield readFileSync(`test/fixtures/files/${name}`);
  };

async function ordersIn(name: string): Promise<LoadedOrder[]> {
  const lines = await Array.fromAsync(readOrders(readFixture(name)()));
  return lines.flatMap((each) => ("order" in each ? [each.order] : []));
}

const stored = new Map((await ordersIn("store-orders.ndjson")).map((order) => [order.id, order]));

async function check(name: string) {
  return checkFile(readOrders(readFixture(name)()), LIMITS, false);
}

describe("a file is loaded as the tool held its orders", () => {
  it.for([
    "csvkit-1.0.7-no-inference.ndjson",
    "fast-csv-5.0.8.csv",
    "json2csv-7.0.8.csv",
    "miller-6.6.0.ndjson",
    "papaparse-5.7.1.csv",
    "php-8.2.32-pretty.json",
    "postgresql-15.18-copy.csv",
    "postgresql-15.18-row_to_json.ndjson",
    "python-3.11.7.csv",
    "sheetjs-0.18.5.csv",
    "sqlite3-3.40.1.json",
  ])("%s", async (name, { expect }) => {
    expect(await check(name)).toMatchObject({ kind: "ready", refused: 0 });
    expect(await ordersIn(name)).toEqual([...stored.values()]);
  });

  it("postgresql-15.18-json_agg.json, and the digits beyond milliseconds are counted", async ({ expect }) => {
    const name = "postgresql-15.18-json_agg.json";
    const notes = expect.arrayContaining(["1 time had digits beyond milliseconds, which were cut."]);
    expect(await check(name)).toMatchObject({ kind: "ready", notes });
    const byId = (a: LoadedOrder, b: LoadedOrder) => Number(BigInt(a.id) - BigInt(b.id));
    expect((await ordersIn(name)).sort(byId)).toEqual([...stored.values()]);
  });
});

describe("a file is refused as a whole", () => {
  it.for([
    ["csv-stringify-6.9.0.csv", /1 and empty cells, and never a 0/],
    ["csv-stringify-6.9.0-dates.csv", /1 and empty cells, and never a 0/],
    ["php-8.2.32-fputcsv.csv", /1 and empty cells, and never a 0/],
    ["text-csv_xs-1.49.csv", /1 and empty cells, and never a 0/],
    ["postgresql-15.18-json_agg-copy.json", /element 2: Unexpected token '\\'/],
  ] as const)("%s", async ([name, reason], { expect }) => {
    expect(await check(name)).toMatchObject({ kind: "wrong", reason: expect.stringMatching(reason) });
  });
});

describe("a file of a tool that rounds has only long ids that rounding makes", () => {
  const longIn = async (name: string, member: "id" | "petId") =>
    (await ordersIn(name)).flatMap((order) => order[member] ?? []).filter(isLong);
  const isRounded = (digits: string) => isOfDouble(BigInt(digits)) || isOfSafeDigits(BigInt(digits));

  it.for([
    ["bson-7.3.4.ndjson", "id"],
    ["d3-dsv-3.0.2.csv", "id"],
    ["exceljs-4.4.0.csv", "id"],
    ["jq-1.6.ndjson", "id"],
    ["libreoffice-7.4.7-xlsx.csv", "id"],
    ["pandas-1.5.3-convert_dtypes.csv", "petId"],
    ["r-4.2.2.csv", "id"],
    ["sheetjs-0.18.5-raw-numbers.csv", "id"],
  ] as const)("%s: %s", async ([name, member], { expect }) => {
    const long = await longIn(name, member);
    expect([long.length > 0, long.every(isRounded)]).toEqual([true, true]);
    expect((await longIn("store-orders.ndjson", member)).every(isRounded)).toBe(false);
  });
});

describe("lines are refused with the value", () => {
  const LONG = /petId: must be a whole number .*, not "9.00719925474099E\+015"/;
  it.for([
    ["bson-7.3.4-canonical.ndjson", [/^id: must be .*, not \{"\$numberLong":"9007199254740993"\}$/]],
    ["csv-stringify-6.9.0-dates.csv", [/^shipDate: .*, not "1796374800000"/, /123/, /000/]],
    ["libreoffice-7.4.7.csv", [LONG, /^id: .*not "9.22337203685478E\+018"/]],
    ["miller-6.6.0.csv", [/^petId: .*, not "null"/, /^shipDate: .*"null"/]],
    ["pandas-1.5.3.csv", [/"3.0"/, /"1.0"/, /"9007199254740992.0"/, /"-5.0"/]],
    ["r-4.2.2.csv", [/"NA"/, /"1e\+05"/, /"9223372036854775808"/]],
  ] as const)("%s", async ([name, reasons], { expect }) => {
    const { refusedLines } = await check(name);
    expect(refusedLines.map(({ reason }) => reason)).toEqual(
      reasons.map((reason) => expect.stringMatching(reason)),
    );
  });
});
