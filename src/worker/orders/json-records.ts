/**
 * Cuts a stream of JSON text into its records: the lines of NDJSON, or the elements of one array, told apart by the
 * first character. Records come out as text, since only text still has all digits of an int64.
 *
 * Pure.
 */

/** `number` is the line, or the element's place in the array; both from 1. */
export type JsonRecord = { readonly number: number; readonly text: string; readonly problem?: string };

/** Far more than any order needs; without a bound one endless line would fill the memory. */
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

/** A record with a problem is the last: what follows it cannot be told apart. */
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
      if (boundary !== "opens") yield* this.#record(this.#pending + chunk.slice(start, i), boundary);
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

  /** Moves over one character; tells when it is one between elements. */
  #step(char: string): "opens" | "separates" | "closes" | "none" {
    if (this.#closed) return "none";
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (char === "\\") this.#escaped = true;
      else if (char === '"') this.#inString = false;
      return "none";
    }
    if (char === '"') this.#inString = true;
    else if (char === "[" || char === "{") return ++this.#depth === 1 ? "opens" : "none";
    else if (this.#depth > 1) this.#depth -= char === "]" || char === "}" ? 1 : 0;
    else if (char === ",") return "separates";
    else if (char === "]") {
      this.#closed = true;
      return "closes";
    }
    return "none";
  }

  *#record(text: string, boundary: "separates" | "closes"): Generator<JsonRecord, void> {
    const isEmptyArray = boundary === "closes" && this.#element === 1 && text.trim() === "";
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
