/** Splitting JSON arrays and NDJSON into records, for any chunks. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { type JsonRecord, MAX_RECORD_CHARS, splitRecords } from "../../../src/worker/orders/json-records.ts";

async function* chunksOf(text: string, cuts: readonly number[]): AsyncGenerator<string, void> {
  const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  let start = 0;
  for (const end of [...at, text.length]) {
    yield text.slice(start, end);
    start = end;
  }
}

function split(text: string, cuts: readonly number[] = []): Promise<JsonRecord[]> {
  return Array.fromAsync(splitRecords(chunksOf(text, cuts)));
}

function textsOf(records: readonly JsonRecord[]): string[] {
  return records.map(({ text }) => text.trim());
}

/** Strings with characters that look like boundaries: brackets, quotes, commas, escapes and line breaks. */
const trickyText = fc.string({
  unit: fc.constantFrom(...'[]{}",:\\\n\r\t aé😀\u2028'.split("")),
  maxLength: 12,
});
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    trickyText,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(trickyText, tie("any"), { maxKeys: 3 }),
  ),
})).any;
const order = fc.dictionary(trickyText, value, { maxKeys: 4 });
const cuts = fc.array(fc.nat(), { maxLength: 12 });
const indent = fc.constantFrom(0, 1, "\t");

describe("a JSON array", () => {
  it("is split into the elements that JSON.parse returns, for any chunks", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 6 }), indent, cuts, async (elements, space, at) => {
        const records = await split(JSON.stringify(elements, null, space), at);
        expect(records.map(({ text }) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(elements)));
        expect(records.map(({ number }) => number)).toEqual(elements.map((_, i) => i + 1));
      }),
    );
  });

  it("gives the same records from one chunk as from single characters, valid or not", async ({ expect }) => {
    const unit = fc.constantFrom(...'[]{}",\\ 1\n'.split(""));
    await fc.assert(
      fc.asyncProperty(fc.string({ unit, maxLength: 30 }), async (rest) => {
        const text = `[${rest}`;
        const whole = (await split(text)).map(({ number, text: json, problem }) => [number, json, problem]);
        const cut = await split(
          text,
          Array.from(text, (_, i) => i),
        );
        expect(cut.map(({ number, text: json, problem }) => [number, json, problem])).toEqual(whole);
      }),
    );
  });

  it("has a record with a problem or invalid JSON whenever JSON.parse refuses the array", async ({
    expect,
  }) => {
    const unit = fc.constantFrom(...'[]{}",:1 '.split(""));
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.string({ unit, maxLength: 16 }), async (rest) => {
        const records = await split(`[${rest}`);
        const passes = records.every(({ text, problem }) => problem === undefined && isJson(text));
        expect(passes).toBe(isJson(`[${rest}`));
      }),
      { numRuns: 2_000 },
    );
  });

  it("has no records if it is empty", async ({ expect }) => {
    for (const text of ["[]", " [ \n ] \n", "\uFEFF[]"]) expect(await split(text)).toEqual([]);
  });

  it("reports a missing end after the complete elements", async ({ expect }) => {
    for (const rest of ["", ",", ',{"id":3', ',"]', ",[[]"]) {
      const records = await split(`[{"id":1},{"id":2}${rest}`);
      expect(records.at(-1)?.problem, rest).toBe("the array ends before its closing bracket");
      expect(records[0]?.text, rest).toBe('{"id":1}');
    }
  });

  it("reports text after the array, and does not read it", async ({ expect }) => {
    for (const rest of ["x", "]", "[2]", ', {"id":2}', '{"id":2}']) {
      expect(await split(`[{"id":1}] ${rest}`, [11]), rest).toEqual([
        { number: 1, text: '{"id":1}' },
        { number: 2, text: "", problem: "there is text after the array" },
      ]);
    }
  });

  it("counts an empty element", async ({ expect }) => {
    expect(textsOf(await split('[{"id":1},,{"id":3}]'))).toEqual(['{"id":1}', "", '{"id":3}']);
    expect(textsOf(await split('[{"id":1},]'))).toEqual(['{"id":1}', ""]);
  });
});

describe("NDJSON", () => {
  it("is split into its lines, for any chunks and line ends", async ({ expect }) => {
    const ending = fc.constantFrom("\n", "\r\n", "\n\n", "\n \t\r\n");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(order, ending), { maxLength: 6 }), cuts, async (lines, at) => {
        const text = lines.map(([object, end]) => JSON.stringify(object) + end).join("");
        const records = await split(text, at);
        expect(records.map((record) => JSON.parse(record.text))).toEqual(
          lines.map(([object]) => JSON.parse(JSON.stringify(object))),
        );
      }),
    );
  });

  it("counts blank lines, so that a number is the line number in an editor", async ({ expect }) => {
    for (const at of [[], [1], [1, 3]]) {
      expect(await split('\n\r\n{"id":1}\n\n{"id":2}', at), String(at)).toEqual([
        { number: 3, text: '{"id":1}' },
        { number: 5, text: '{"id":2}' },
      ]);
    }
  });

  it("may begin with a byte order mark, and its last line needs no line break", async ({ expect }) => {
    expect(await split('\uFEFF{"id":1}\r\n{"id":2}', [1])).toEqual([
      { number: 1, text: '{"id":1}\r' },
      { number: 2, text: '{"id":2}' },
    ]);
  });

  it("keeps a byte order mark that is not at the start of the text", async ({ expect }) => {
    expect(await split('{"a":"\uFEFF"}\n')).toEqual([{ number: 1, text: '{"a":"\uFEFF"}' }]);
  });

  it("has no records if it has only white space", async ({ expect }) => {
    for (const text of ["", " ", "\n\r\n \n", " \n".repeat(MAX_RECORD_CHARS)]) {
      expect(await split(text, [1])).toEqual([]);
    }
  });

  it("returns a line that is not JSON, so that the caller can refuse it by its number", async ({
    expect,
  }) => {
    expect(textsOf(await split('{"id":1}\nnonsense\n{"id":3}'))).toEqual([
      '{"id":1}',
      "nonsense",
      '{"id":3}',
    ]);
  });
});

describe("a record that is too long", () => {
  const tooLong = `"${"x".repeat(MAX_RECORD_CHARS)}"`;
  const longest = `"${"x".repeat(MAX_RECORD_CHARS - 2)}"`;
  const problem = `is longer than ${MAX_RECORD_CHARS} characters; nothing after it was read`;
  const cases = [
    { form: "a line", open: "", between: "\n", close: "\n" },
    { form: "an element", open: "[", between: ",", close: "]" },
  ];

  for (const { form, open, between, close } of cases) {
    it(`is the last record as ${form}, for any chunks`, async ({ expect }) => {
      const text = `${open}{}${between}${tooLong}${between}{}${close}`;
      for (const at of [[], [3], [MAX_RECORD_CHARS], [10, 20, MAX_RECORD_CHARS + 4]]) {
        expect(await split(text, at), String(at)).toEqual([
          { number: 1, text: "{}" },
          { number: 2, text: "", problem },
        ]);
      }
    });

    it(`may have exactly MAX_RECORD_CHARS characters as ${form}`, async ({ expect }) => {
      for (const cut of [50_000, MAX_RECORD_CHARS, MAX_RECORD_CHARS + 1]) {
        const records = await split(`${open}${longest}${close}`, [cut]);
        expect(records, String(cut)).toEqual([{ number: 1, text: longest }]);
      }
    });
  }

  for (const [form, chunk] of [
    ["element", `[${"x".repeat(10_000)}`],
    ["line", "x".repeat(10_000)],
    ["blank line", " ".repeat(10_000)],
  ] as const) {
    it(`ends the reading of an endless ${form}`, async ({ expect }) => {
      let chunks = 0;
      async function* endless() {
        for (; chunks < 1_000; chunks++) yield chunk;
      }
      const records = await Array.fromAsync(splitRecords(endless()));
      expect(records).toEqual([{ number: 1, text: "", problem }]);
      expect(chunks).toBeLessThan(20);
    });
  }

  it("may be preceded by MAX_RECORD_CHARS of white space", async ({ expect }) => {
    expect(await split(`${" ".repeat(MAX_RECORD_CHARS)}[{}]`, [MAX_RECORD_CHARS])).toEqual([
      { number: 1, text: "{}" },
    ]);
  });
});
