/**
 * Cuts a stream of JSON text into its records: the lines of NDJSON, or the elements of one array, told apart by the
 * first character. Records come out as text, since only text still has all digits of an int64.
 *
 * Pure.
 */

/** `number` is the line, or the element's place in the array; both from 1. */
export type JsonRecord = { readonly number: number; readonly text: string; readonly problem?: string };

/** Far more than any order needs; without a bound one endless line would fill the memory. */
export const LONGEST_RECORD = 100_000;

export async function* splitRecords(chunks: AsyncIterable<string>): AsyncGenerator<JsonRecord, void> {
  let buffered = "";
  let splitter: Splitter | undefined;
  for await (const chunk of chunks) {
    buffered += chunk;
    if (!splitter) {
      buffered = buffered.replace(/^\uFEFF/, "");
      const first = buffered.trimStart();
      if (first === "") continue;
      splitter = first.startsWith("[") ? new ArraySplitter() : new LineSplitter();
    }
    yield* splitter.push(buffered);
    buffered = "";
    if (splitter.pendingLength > LONGEST_RECORD) break;
  }
  if (splitter) yield* splitter.end();
}

interface Splitter {
  push(chunk: string): Generator<JsonRecord, void>;
  end(): Generator<JsonRecord, void>;
  readonly pendingLength: number;
}

class LineSplitter implements Splitter {
  #line = 0;
  #pending = "";

  get pendingLength(): number {
    return this.#pending.length;
  }

  *push(chunk: string) {
    const lines = (this.#pending + chunk).split("\n");
    this.#pending = lines.pop() ?? "";
    for (const text of lines) yield* this.#record(text);
  }

  *end() {
    if (this.#pending.length > LONGEST_RECORD) {
      yield { number: this.#line + 1, text: "", problem: TOO_LONG };
      return;
    }
    yield* this.#record(this.#pending);
  }

  *#record(text: string): Generator<JsonRecord, void> {
    this.#line++;
    if (text.trim() !== "") yield { number: this.#line, text };
  }
}

class ArraySplitter implements Splitter {
  #element = 0;
  #pending = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  #closed = false;

  get pendingLength(): number {
    return this.#pending.length;
  }

  *push(chunk: string) {
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const boundary = this.#step(chunk.charAt(i));
      if (boundary === "opens") start = i + 1;
      if (boundary === "separates" || boundary === "closes") {
        yield* this.#record(this.#pending + chunk.slice(start, i), boundary);
        this.#pending = "";
        start = i + 1;
      }
    }
    this.#pending += chunk.slice(start);
  }

  *end() {
    const number = this.#element + 1;
    if (this.#pending.length > LONGEST_RECORD) yield { number, text: "", problem: TOO_LONG };
    else if (!this.#closed) yield { number, text: "", problem: "the array ends before its closing bracket" };
    else if (this.#pending.trim() !== "")
      yield { number, text: "", problem: "there is text after the array" };
  }

  /** Moves over one character; tells when it is one between elements. */
  #step(char: string): "opens" | "separates" | "closes" | "none" {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (char === "\\") this.#escaped = true;
      else if (char === '"') this.#inString = false;
      return "none";
    }
    if (char === '"') this.#inString = true;
    else if (char === "[" || char === "{") return ++this.#depth === 1 && !this.#closed ? "opens" : "none";
    else if (char === "]" || char === "}") {
      if (--this.#depth !== 0) return "none";
      this.#closed = true;
      return "closes";
    } else if (char === "," && this.#depth === 1) return "separates";
    return "none";
  }

  *#record(text: string, boundary: "separates" | "closes"): Generator<JsonRecord, void> {
    const isEmptyArray = boundary === "closes" && this.#element === 0 && text.trim() === "";
    if (isEmptyArray) return;
    this.#element++;
    yield { number: this.#element, text };
  }
}

const TOO_LONG = `is longer than ${LONGEST_RECORD} characters; nothing after it was read`;
