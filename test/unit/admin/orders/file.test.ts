/** Reading a file of orders in each format, and loading it in batches. */
import fc from "fast-check";
import { describe, it } from "vitest";
import {
  type LoadProgress,
  loadedFileName,
  loadInBatches,
} from "../../../../src/worker/admin/orders/file/load.ts";
import { readOrders } from "../../../../src/worker/admin/orders/file/read.ts";
import type { LoadedOrder } from "../../../../src/worker/admin/orders/loaded-order.ts";
import { ORDER_STATUSES } from "../../../../src/worker/db/values.ts";

/** The bytes in pieces of this length. */
async function* pieces(file: string | Uint8Array, length: number): AsyncGenerator<Uint8Array, void> {
  const bytes = Buffer.from(file);
  for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length);
}

const read = (file: string | Uint8Array, length = 7) => Array.fromAsync(readOrders(pieces(file, length)));

/** The orders, the refused lines, and the problem that ends the file. */
async function valuesIn(file: string | Uint8Array, length?: number): Promise<unknown[]> {
  return (await read(file, length)).map((each) => {
    if ("problem" in each) return each.problem;
    if ("order" in each) return each.order;
    const { line, text, reason } = each;
    return { line, text, reason };
  });
}

async function refusedIn(file: string | Uint8Array, length?: number): Promise<unknown[]> {
  return (await valuesIn(file, length)).filter((each) => !(each instanceof Object && "id" in each));
}

const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String);
const date = fc
  .date({ min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
  .map((at) => at.toISOString());
const order = fc.record({
  id: int64,
  petId: fc.option(int64),
  quantity: fc.option(fc.bigInt(0n, 2n ** 63n - 1n).map(String)),
  shipDate: fc.option(date),
  complete: fc.option(fc.boolean()),
  status: fc.option(fc.constantFrom(...ORDER_STATUSES)),
});
const orders = fc.uniqueArray(order, { minLength: 1, maxLength: 5, selector: ({ id }) => id });

const MEMBERS = ["id", "petId", "quantity", "shipDate", "complete", "status"] as const;

/** Big-endian UTF-16, which Node does not write. */
const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16();
const ENCODINGS: Readonly<Record<string, (text: string) => Buffer>> = {
  "UTF-8": (text) => Buffer.from(text),
  "UTF-8 with its mark": (text) => Buffer.from(`\ufeff${text}`),
  "UTF-16 LE with its mark": (text) => Buffer.from(`\ufeff${text}`, "utf16le"),
  "UTF-16 LE": (text) => Buffer.from(text, "utf16le"),
  "UTF-16 BE with its mark": (text) => utf16be(`\ufeff${text}`),
  "UTF-16 BE": utf16be,
};

/** Each line may end in its own way, and a line may be blank. */
const lineEnds = fc.array(fc.constantFrom("\n", "\r\n", "\r", "\r\n\r\n"), { minLength: 12, maxLength: 12 });
const inLines = (lines: readonly string[], ends: readonly string[]) =>
  lines.map((line, i) => `${line}${ends[i % ends.length]}`).join("");

/** How a row is written: from its cells, which are text. */
const ROWS: Readonly<Record<string, (cells: readonly string[]) => string>> = {
  commas: (cells) => cells.join(","),
  semicolons: (cells) => cells.join(";"),
  tabs: (cells) => cells.join("\t"),
  bars: (cells) => cells.join("|"),
  "commas and blanks": (cells) => cells.join(" , "),
  "quotes and semicolons": (cells) => cells.map((cell) => `"${cell}"`).join(";"),
  "quotes and blanks": (cells) => cells.map((cell) => `" ${cell}"`).join(",  "),
  "quotes with line breaks": (cells) => cells.map((cell) => `"${cell}\r"`).join(","),
};

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  exact: MEMBERS,
  capitals: ["ID", "PETID", "QUANTITY", "SHIPDATE", "COMPLETE", "STATUS"],
  words: ["Id", "Pet ID", "Quantity", "Ship Date", "Complete", "Status"],
  underscores: ["id", "pet_id", "quantity", "ship_date", "complete", "status"],
  "hard blanks": ["\u00a0id", "pet\u00a0id", "quantity", "ship-date ", "complete", "status\u00a0"],
};

/** A row without a value, and orders with the cells that spreadsheets write. */
const rowsOf = (all: readonly LoadedOrder[], names: readonly string[]) => {
  const cellOf = (value: unknown) => (value === true ? "TRUE" : String(value ?? ""));
  const empty = MEMBERS.map(() => "");
  return [empty, names, empty, ...all.map((each) => MEMBERS.map((name) => cellOf(each[name]))), empty];
};

/** Numbers as numbers, or as text. */
const objectOf = (each: LoadedOrder, isText: boolean) => {
  const json = JSON.stringify(each);
  return isText ? json : json.replace(/"(-?\d+)"/g, "$1");
};

describe("orders are read back with all digits", () => {
  const encoding = fc.constantFrom(...Object.values(ENCODINGS));
  const length = fc.integer({ min: 1, max: 50 });

  it.for(Object.entries(ROWS))("from CSV with %s", async ([, toRow], { expect }) => {
    const header = fc.constantFrom(...Object.values(HEADERS));
    await fc.assert(
      fc.asyncProperty(orders, header, encoding, lineEnds, length, async (all, names, encode, ends, size) => {
        const text = inLines(rowsOf(all, names).map(toRow), ends);
        expect(await valuesIn(encode(text), size)).toEqual(all);
      }),
    );
  });

  it("from NDJSON and from a JSON array", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(
        ...([orders, fc.boolean(), fc.boolean(), encoding, lineEnds, length] as const),
        async (all, isArray, isText, encode, ends, size) => {
          const objects = all.map((each) => objectOf(each, isText));
          const lines = isArray ? ["", "[", objects.join(",\n"), "]"] : objects;
          expect(await valuesIn(encode(inLines(lines, ends)), size)).toEqual(all);
        },
      ),
    );
  });
});

describe("a file of CSV", () => {
  it("may have some columns, and columns without a name and a value", async ({ expect }) => {
    expect(await valuesIn("Status;ID;;\r\nshipped;1;;\r\n;2;;\r\n;3;x;\r\n")).toEqual([
      { id: "1", status: "shipped" },
      { id: "2", status: null },
      { line: 4, text: ";3;x;", reason: "has a value in a column without a name" },
    ]);
  });

  it.for([
    ["id,petId,price\n1,2,3", /^line 1: is neither JSON nor a header of CSV: "price" is none of id, petId,/],
    ["nonsense\nx", /"nonsense" is none of/],
    ["petId\n1", /has no column id$/],
    ["id,petId,Pet ID\n1,2,3", /has the column petId twice$/],
    ['\n\nid,"petId\n1,2', /^line 3: has a quotation mark that is not closed$/],
    ["\u001f\u008b\ufffd", /has bytes that are not valid in the file's encoding/],
  ] as const)("is refused as a whole for its header: %#", async ([text, problem], { expect }) => {
    expect(await read(text)).toEqual([{ problem: expect.stringMatching(problem) }]);
  });

  it("of a list has a column that is left out", async ({ expect }) => {
    const rows = ["id,petId,version", "1,2,7", "3,,"];
    expect(await valuesIn(rows.join("\n"))).toEqual([
      { id: "1", petId: "2" },
      { id: "3", petId: null },
    ]);
  });

  it("guesses no number and no date that a spreadsheet has spoilt", async ({ expect }) => {
    const numbers = ["1.00E+05", "5.0", "1.000", "'1,000'", "+5", "05", "-0", "\u22125", "5\u00a0", "=5"];
    const others = ["NaN", "0x5", "NULL", "\\N", "None"];
    const dates = ["01/03/2026", "1.3.2026", "46082", "2026-03-01 10:00", "2026-02-30T10:00:00Z", "now"];
    const rows = [...[...numbers, ...others].map((cell) => `${cell};`), ...dates.map((cell) => `;${cell}`)];
    const lines = await read(
      ["petId;shipDate;id", ...rows.map((row, i) => `${row};${i}`), ";;99"].join("\n"),
    );
    expect(lines.map((each) => ("order" in each ? each.order.id : "line" in each && each.line))).toEqual([
      ...rows.map((_, i) => i + 2),
      "99",
    ]);
  });

  it("loses no row to a quotation mark that is not closed", async ({ expect }) => {
    const rows = ["id,petId", '1,"2', '2,x"y"', "3,4", '5,"6"', '"7\n",8', '9,1"0', "10,11", "11,12", '13,"'];
    expect(await valuesIn(rows.join("\n"))).toEqual([
      { line: 2, text: '1,"2', reason: "has a quotation mark within a cell" },
      { line: 3, text: '2,x"y"', reason: "has a quotation mark within a cell" },
      ...[
        { id: "3", petId: "4" },
        { id: "5", petId: "6" },
        { id: "7", petId: "8" },
      ],
      { line: 8, text: '9,1"0', reason: expect.stringContaining("has a quotation mark") },
      ...[
        { id: "10", petId: "11" },
        { id: "11", petId: "12" },
      ],
      { line: 11, text: '13,"', reason: "has a quotation mark that is not closed" },
    ]);
  });
});

describe("a wrong line", () => {
  it("of CSV shows a value without the quotation marks around it", async ({ expect }) => {
    const reason = expect.stringContaining('not "a\\"b"');
    expect(await refusedIn('id\n"a""b"\n')).toEqual([{ line: 2, text: '"a""b"', reason }]);
  });

  const INT64 = "must be a whole number of 64 bits, in digits";

  it("of NDJSON has its number, its text and every reason", async ({ expect }) => {
    expect(await refusedIn('\n{"id":1}\r\n{"id":1.5,"price":2}\r\n\n{"id":2\n[3]\n', 1)).toEqual([
      {
        line: 3,
        text: '{"id":1.5,"price":2}',
        reason: `id: ${INT64}, not "1.5"; price: is not a known field`,
      },
      { line: 5, text: '{"id":2', reason: expect.stringMatching(/JSON/) },
      { line: 6, text: "[3]", reason: "is not a JSON object" },
    ]);
  });

  it.for(["id\n", '{"id":1}\n{"x":"'])("that is too long ends the file: %j", async (start, { expect }) => {
    const [last] = (await valuesIn(start + "x".repeat(1_100_000), 65_536)).slice(-1);
    expect(last).toBe("line 2: has more than 1000000 characters");
  });

  it("of an array has the element's number", async ({ expect }) => {
    const escaped = '{"id":4,"x":"\\"]"}';
    const array = `[{"id":1},\n{"id":9223372036854775808,\n"petId":1}, null, ${escaped}]`;
    expect(await refusedIn(array, 1)).toEqual([
      {
        line: 2,
        text: '{"id":9223372036854775808,\n"petId":1}',
        reason: `id: ${INT64}, not "9223372036854775808"`,
      },
      { line: 3, text: "null", reason: "is not a JSON object" },
      { line: 4, text: escaped, reason: "x: is not a known field" },
    ]);
  });

  it("of CSV can have too few or many cells, or a wrong value", async ({ expect }) => {
    const rows = ["petId,id,complete", "1,2,TRUE", "1", "1,3,true,3", "1.0,2,true", ",,ja", "\u00a05,6,"];
    expect(await refusedIn(rows.join("\n"))).toEqual([
      { line: 3, text: "1", reason: "has 1 cells, and the header has 3" },
      { line: 4, text: "1,3,true,3", reason: "has 4 cells, and the header has 3" },
      { line: 5, text: "1.0,2,true", reason: `petId: ${INT64}, not "1.0"` },
      { line: 6, text: ",,ja", reason: `id: ${INT64}, not ""; complete: must be true or false, not "ja"` },
      { line: 7, text: "\u00a05,6,", reason: `petId: ${INT64}, not "\u00a05"` },
    ]);
  });

  it.for([
    ["UTF-8", Buffer.from('{"id":1}\n{"id":2,"x":"\xe9"}\n{"id":3}', "latin1")],
    ["UTF-16", Buffer.from('{"id":1}\n{"id":2,"x":"\ud800"}\n{"id":3}', "utf16le")],
    ["UTF-8 in an array", Buffer.from('[{"id":1},\n{"id":2,"x":"\xe9"}]', "latin1")],
  ] as const)("has bytes that are not valid %s", async ([, bytes], { expect }) => {
    const reason = "has bytes that are not valid in the file's encoding: save the file as UTF-8";
    expect(await refusedIn(bytes)).toEqual([{ line: 2, text: expect.stringContaining('"id":2'), reason }]);
  });

  it("has an id that stands in a line before", async ({ expect }) => {
    const reason = (place: string) => `id: stands in ${place} already`;
    expect(await valuesIn('id\n7\n8\n"7"\nx\n7')).toEqual([
      ...[{ id: "7" }, { id: "8" }],
      { line: 4, text: '"7"', reason: reason("line 2") },
      { line: 5, text: "x", reason: `id: ${INT64}, not "x"` },
      { line: 6, text: "7", reason: reason("line 2") },
    ]);
    const element = { line: 2, text: '{"id":"1"}', reason: reason("element 1") };
    expect(await refusedIn('[{"id":1},{"id":"1"}]')).toEqual([element]);
  });

  it("is nested too deeply", async ({ expect }) => {
    const deep = `{"id":1,"petId":${"[".repeat(60_000)}${"]".repeat(60_000)}}`;
    const reason = "is nested too deeply";
    expect(await read(`{"id":1}\n${deep}\n{"id":2}`, 50_000)).toMatchObject([
      { line: 1 },
      { line: 2, reason },
      { line: 3 },
    ]);
    expect(await read(`[${deep}]`, 50_000)).toMatchObject([{ line: 1, reason }]);
  });

  it("has a member twice", async ({ expect }) => {
    const reason = 'has the member "id" twice';
    for (const text of ['{"id":1,"id":2}', '{"\\u0069d":1, "petId":{"id":3}, "id" : 1}']) {
      expect(await refusedIn(`${text}\n{"id":9}`)).toEqual([{ line: 1, text, reason }]);
      expect(await refusedIn(`[${text}]`)).toEqual([{ line: 1, text, reason }]);
    }
    expect(await refusedIn('{"id":1,"shipDate":"2026-12-04T09:00:00Z","status":"\\"id\\":"}')).toMatchObject([
      { reason: expect.stringMatching(/^status: must be one of/) },
    ]);
  });

  it("is none of an empty file", async ({ expect }) => {
    for (const text of ["", " \n\n", "[]", "id,petId\n", ",,\n"]) expect(await read(text)).toEqual([]);
  });
});

describe("an object a line", () => {
  it("does not end at a line that is wrong", async ({ expect }) => {
    const lines = ['{"id":1', "", '{"id":2,"status":"pend', '{"id":3}', '{"id":4}{"id":5}', '{"id":6}'];
    const refused = await refusedIn(lines.join("\r\n"));
    expect(refused).toMatchObject([{ line: 1 }, { line: 3 }, { line: 5 }]);
    expect(await read(lines.join("\r\n"))).toHaveLength(5);
  });

  it("is not an object on several lines, which ends the file", async ({ expect }) => {
    const problem = expect.stringMatching(/one a line/);
    expect(await read('{\n  "id": 1\n}\n{\n  "id": 2\n}')).toEqual([{ problem }]);
  });
});

describe("an array", () => {
  it("has any length, and is read in pieces", async ({ expect }) => {
    const orders = Array.from({ length: 3_000 }, (_, i) => `{"id":${i},"status":"pending"}`);
    const blanks = " ".repeat(500_000);
    const array = `[${orders.join(`,${blanks.slice(0, 5_000)}`)}]${blanks}`;
    const read = await valuesIn(array, 60_001);
    expect(read).toHaveLength(3_000);
    expect(read[2_999]).toEqual({ id: "2999", status: "pending" });
  });

  it.for([
    ['[{"id":1},\n{"id":2}', "the array does not end: the file was cut off"],
    ['[{"id":1},\n{"id":2', "the array does not end: the file was cut off"],
    ['[{"id":1}]]', "text follows the array"],
    ['[{"id":1}]\n[{"id":2}]', "text follows the array"],
    ['[{"id":1},]', "element 2: is missing"],
    ['[{"id":1},,{"id":2}]', "element 2: is missing"],
    ['[{"id":1}}]', "element 1: a bracket closes what is not open"],
    ['[{"id":1}, \\n {"id":2}]', /^element 2: Unexpected token/],
    [`[{"id":1},"${"x".repeat(1_100_000)}"]`, "element 2: has more than 1000000 characters"],
  ] as const)("must be valid JSON as a whole: %#", async ([array, problem], { expect }) => {
    const isProblem = typeof problem === "string" ? problem : expect.stringMatching(problem);
    const lengths = array.length > 1_000 ? [65_536] : [1, 1_000];
    for (const length of lengths) expect((await read(array, length)).at(-1)).toEqual({ problem: isProblem });
  });
});

describe("a load in batches", () => {
  async function load(text: string, batchSize: number) {
    const sent: { id: string }[][] = [];
    const shown: LoadProgress[] = [];
    const send = async (json: string) => {
      sent.push(JSON.parse(json));
      return { inserted: 1, updated: 0, unchanged: JSON.parse(json).length - 1, cancelled: 0, kept: 1 };
    };
    for await (const progress of loadInBatches(readOrders(pieces(text, 9)), send, batchSize))
      shown.push(progress);
    return { ids: sent.map((orders) => orders.map(({ id }) => id)), shown };
  }

  it("adds up the figures", async ({ expect }) => {
    const { ids, shown } = await load('{"id":1}\n{"id":2}\nx\n{"id":3}\n', 2);
    expect(ids).toEqual([["1", "2"], ["3"]]);
    const figures = { updated: 0, cancelled: 0 };
    expect(shown).toEqual([
      { ...figures, read: 2, inserted: 1, unchanged: 1, kept: 1, refused: 0 },
      { ...figures, read: 4, inserted: 2, unchanged: 1, kept: 2, refused: 1 },
    ]);
  });

  it("sends nothing if all lines are wrong", async ({ expect }) => {
    const { ids, shown } = await load("{1\n{1\n{1\n", 2);
    expect([ids, shown]).toMatchObject([[], [{ read: 2 }, { read: 3, refused: 3 }]]);
  });
});

it("a file's name is one line of text", ({ expect }) => {
  expect(loadedFileName(" a\u202e\n.csv ")).toBe("a.csv");
  expect(loadedFileName("x".repeat(300))).toHaveLength(255);
  expect(loadedFileName("\n")).toBeUndefined();
});
