/**
 * Splits a stream of JSON text into its records: the elements of one array if the text begins with `[`, otherwise the
 * lines of NDJSON. Records stay text, because JSON.parse would lose digits of an int64.
 *
 * Pure.
 */

/** `number` is the line number, or the position of the element in the array. Both start at 1. */
export type JsonRecord = { readonly number: number; readonly text: string; readonly problem?: string };

/** Far more than any order needs. Without a bound, one endless line would fill the memory. */
export const MAX_RECORD_CHARS = 100_000;

export async function* splitRecords(chunks: AsyncIterable<string>): AsyncGenerator<JsonRecord, void> {
  let buffered = "";
  let splitter: Splitter | undefined;
  for await (const chunk of chunks) {
    buffered += chunk;
    if (!splitter) {
      buffered = buffered.replace(/^\uFEFF/, "");
      const first = buffered.trimStart();
      if (first === "" && buffered.length <= MAX_RECORD_CHARS) continue;
      splitter = first.startsWith("[") ? new ArraySplitter() : new LineSplitter();
    }
    for (const record of splitter.push(buffered)) {
      yield record;
      if (record.problem !== undefined) return;
    }
    buffered = "";
  }
  if (splitter) yield* splitter.end();
}

/** A record with a problem is the last one, because the text after it cannot be split. */
interface Splitter {
  push(chunk: string): Generator<JsonRecord, void>;
  end(): Generator<JsonRecord, void>;
}

class LineSplitter implements Splitter {
  #line = 1;
  #pending = "";

  *push(chunk: string) {
    const lines = (this.#pending + chunk).split("\n");
    this.#pending = lines.pop() ?? "";
    for (const text of lines) {
      yield* recordOf(this.#line, text);
      this.#line++;
    }
    if (this.#pending.length > MAX_RECORD_CHARS) yield* recordOf(this.#line, this.#pending);
  }

  *end() {
    yield* recordOf(this.#line, this.#pending);
  }
}

function* recordOf(number: number, text: string): Generator<JsonRecord, void> {
  if (text.length > MAX_RECORD_CHARS) yield { number, text: "", problem: TOO_LONG };
  else if (text.trim() !== "") yield { number, text };
}

class ArraySplitter implements Splitter {
  #element = 1;
  #pending = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  #closed = false;

  *push(chunk: string) {
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const boundary = this.#step(chunk.charAt(i));
      if (boundary === "none") continue;
      if (boundary !== "start") yield* this.#record(this.#pending + chunk.slice(start, i), boundary);
      this.#pending = "";
      start = i + 1;
    }
    this.#pending += chunk.slice(start);
    if (this.#pending.length > MAX_RECORD_CHARS) yield this.#problem(TOO_LONG);
    else if (this.#closed && this.#pending.trim() !== "")
      yield this.#problem("there is text after the array");
  }

  *end() {
    if (!this.#closed) yield this.#problem("the array ends before its closing bracket");
  }

  /** Reads one character. Returns whether it is a boundary of an element of the array. */
  #step(char: string): "start" | "separator" | "end" | "none" {
    if (this.#closed) return "none";
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (char === "\\") this.#escaped = true;
      else if (char === '"') this.#inString = false;
      return "none";
    }
    if (char === '"') this.#inString = true;
    else if (char === "[" || char === "{") return ++this.#depth === 1 ? "start" : "none";
    else if (this.#depth > 1) this.#depth -= char === "]" || char === "}" ? 1 : 0;
    else if (char === ",") return "separator";
    else if (char === "]") {
      this.#closed = true;
      return "end";
    }
    return "none";
  }

  *#record(text: string, boundary: "separator" | "end"): Generator<JsonRecord, void> {
    const isEmptyArray = boundary === "end" && this.#element === 1 && text.trim() === "";
    if (isEmptyArray) return;
    if (text.length > MAX_RECORD_CHARS) yield this.#problem(TOO_LONG);
    else yield { number: this.#element, text };
    this.#element++;
  }

  #problem(problem: string): JsonRecord {
    return { number: this.#element, text: "", problem };
  }
}

const TOO_LONG = `is longer than ${MAX_RECORD_CHARS} characters; nothing after it was read`;
