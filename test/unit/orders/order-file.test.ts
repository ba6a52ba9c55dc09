/** Reading a file of orders in each format, and loading it in batches. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { ORDER_STATUSES } from "../../../src/worker/db/values.ts";
import { type LoadedOrder, orderJson } from "../../../src/worker/orders/loaded-order.ts";
import {
  type FileLine,
  type LoadProgress,
  loadedFileName,
  loadInBatches,
  readOrders,
} from "../../../src/worker/orders/order-file.ts";

/** The text in pieces of this length. */
async function* pieces(text: string, length: number): AsyncGenerator<string, void> {
  for (let start = 0; start < text.length; start += length) yield text.slice(start, start + length);
}

const read = (text: string, length = 7): Promise<FileLine[]> =>
  Array.fromAsync(readOrders(pieces(text, length)));

async function refusedIn(text: string): Promise<unknown[]> {
  return (await read(text)).filter((line) => "reason" in line);
}

const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String);
const date = fc
  .date({ min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
  .map((at) => at.toISOString());
const order: fc.Arbitrary<LoadedOrder> = fc.record({
  id: int64,
  petId: fc.option(int64),
  quantity: fc.option(int64),
  shipDate: fc.option(date),
  complete: fc.option(fc.boolean()),
  status: fc.option(fc.constantFrom(...ORDER_STATUSES)),
});

const MEMBERS = ["id", "petId", "quantity", "shipDate", "complete", "status"] as const;

const FORMATS: Record<string, (orders: readonly LoadedOrder[], newline: string) => string> = {
  "a JSON array": (orders, newline) => `${newline}[${orders.map(orderJson).join(`,${newline}`)}]${newline}`,
  NDJSON: (orders, newline) => orders.map((each) => `${orderJson(each)}${newline}`).join(newline),
  CSV: (orders, newline) =>
    [MEMBERS, ...orders.map((each) => MEMBERS.map((name) => each[name] ?? ""))]
      .map((cells) => cells.join(","))
      .join(newline),
  "CSV with semicolons and quotes": (orders, newline) =>
    [MEMBERS, ...orders.map((each) => MEMBERS.map((name) => each[name] ?? ""))]
      .map((cells) => `${cells.map((cell) => `"${cell}"`).join(";")}${newline}`)
      .join(""),
};

describe("orders that are written", () => {
  it.for(Object.entries(FORMATS))("as %s are read back with all digits", async ([, write], { expect }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(order, { minLength: 1, maxLength: 5 }),
        fc.constantFrom("\n", "\r\n"),
        fc.integer({ min: 1, max: 50 }),
        async (orders, newline, length) => {
          const lines = await read(write(orders, newline), length);
          expect(lines.map((line) => ("order" in line ? line.order : line))).toEqual(orders);
        },
      ),
    );
  });
});

describe("a wrong line", () => {
  const INT64 = "must be a whole number of 64 bits, in digits";

  it("of NDJSON has its number, its text and every reason", async ({ expect }) => {
    expect(await refusedIn('\n{"id":1}\r\n{"id":1.5,"price":2}\r\n\n{"id":2\n[3]\n')).toEqual([
      { line: 3, text: '{"id":1.5,"price":2}', reason: `id: ${INT64}; price: is not a known field` },
      { line: 5, text: '{"id":2', reason: expect.stringMatching(/JSON/) },
      { line: 6, text: "[3]", reason: "is not a JSON object" },
    ]);
  });

  it("of an array has the element's number", async ({ expect }) => {
    expect(await refusedIn('[{"id":1},\n{"id":9223372036854775808,\n"petId":1}, null]')).toEqual([
      { line: 2, text: '{"id":9223372036854775808,"petId":1}', reason: `id: ${INT64}` },
      { line: 3, text: "null", reason: "is not a JSON object" },
    ]);
  });

  it("of CSV can have too few or many cells, a broken quote, or a wrong value", async ({ expect }) => {
    const rows = ["petId,id,complete", "1,2,TRUE", "1", "1,2,true,3", '1,"2,true', "1.0,2,true", ",,yes"];
    expect(await refusedIn(rows.join("\n"))).toEqual([
      { line: 3, text: "1", reason: "has 1 cells, and the header has 3" },
      { line: 4, text: "1,2,true,3", reason: "has 4 cells, and the header has 3" },
      { line: 5, text: '1,"2,true', reason: "is not valid CSV: Quoted field unterminated" },
      { line: 6, text: "1.0,2,true", reason: `petId: ${INT64}` },
      { line: 7, text: ",,yes", reason: `id: ${INT64}; complete: must be true or false` },
    ]);
  });

  it("is the only one of a file that is no JSON, and whose first line is no header", async ({ expect }) => {
    for (const text of [
      "nonsense\nx",
      "id,price\n1,2",
      "petId\n1",
      "id,id\n1,1",
      "\u001f\u008b\u0008",
      "id,\n1,",
    ]) {
      const reason = expect.stringMatching(
        /^is neither JSON nor the header of a CSV with columns of id, petId,/,
      );
      expect(await read(text)).toEqual([{ line: 1, text: text.split("\n")[0], reason }]);
    }
  });

  it("is an array that is not valid JSON, or that is too long", async ({ expect }) => {
    for (const array of ['[{"id":1},\n{"id":2}', '[{"id":1}]]']) {
      expect(await read(array)).toEqual([{ line: 1, text: "", reason: expect.stringMatching(/JSON/) }]);
    }
    const spaces = " ".repeat(8_000_000);
    for (const array of [`[${spaces}${spaces}]`, `[${spaces}\n${spaces}]`]) {
      const reason = expect.stringContaining("more than 16000000 characters: load NDJSON");
      expect(await read(array, 1_000_000)).toEqual([{ line: 1, text: "", reason }]);
    }
  });

  it("is none of an empty file", async ({ expect }) => {
    for (const text of ["", " \n\n", "[]", "id,petId\n"]) expect(await read(text)).toEqual([]);
  });
});

describe("a load in batches", () => {
  async function load(text: string, batchSize: number) {
    const sent: { id: number }[][] = [];
    const shown: LoadProgress[] = [];
    const send = async (json: string) => {
      sent.push(JSON.parse(json));
      return { inserted: 1, updated: 0, unchanged: JSON.parse(json).length - 1, cancelled: 0 };
    };
    for await (const progress of loadInBatches(readOrders(pieces(text, 9)), send, batchSize))
      shown.push(progress);
    return { ids: sent.map((orders) => orders.map(({ id }) => id)), shown };
  }

  it("adds up the figures, and hands over each refused line once", async ({ expect }) => {
    const { ids, shown } = await load('{"id":1}\n{"id":2}\nx\n{"id":3}\n', 2);
    expect(ids).toEqual([[1, 2], [3]]);
    const refused = { line: 3, text: "x", reason: expect.stringContaining("is not valid JSON") };
    const figures = { updated: 0, cancelled: 0 };
    expect(shown).toEqual([
      { ...figures, read: 2, inserted: 1, unchanged: 1, refused: 0, refusedLines: [] },
      { ...figures, read: 4, inserted: 2, unchanged: 1, refused: 1, refusedLines: [refused] },
    ]);
  });

  it("sends no id twice in a batch, and orders in the order of the file", async ({ expect }) => {
    const { ids } = await load([1, 2, 1, 3, 1, 4].map((id) => `{"id":${id}}`).join("\n"), 3);
    expect(ids).toEqual([
      [1, 2],
      [1, 3],
      [1, 4],
    ]);
  });

  it("sends nothing if all lines are wrong", async ({ expect }) => {
    const { ids, shown } = await load("{\n{\n{\n", 2);
    expect([ids, shown.at(-1)]).toMatchObject([[], { read: 3, refused: 3 }]);
  });
});

it("a file's name is one line of text", ({ expect }) => {
  expect(loadedFileName(" a\u202e\n.csv ")).toBe("a.csv");
  expect(loadedFileName("x".repeat(300))).toHaveLength(255);
  expect(loadedFileName("\n")).toBeUndefined();
});
