/** The bytes of a file as text in its encoding, and the lines of this text. Pure. */
import { encodingOf } from "../../../text/text.ts";

/** `line` counts from 1: lines of the file, or elements of its array. */
export type Line = { readonly line: number; readonly text: string };

/** What is wrong with the whole file. */
export type FileProblem = { readonly problem: string };

/** Stands for bytes that are not valid in the file's encoding. No order has this character. */
export const INVALID = "\ufffd";
export const NOT_TEXT = "has bytes that are not valid in the file's encoding: save the file as UTF-8";

/** An order takes some 200 characters. */
export const MAX_VALUE_CHARS = 1_000_000;
export const TOO_LONG = `has more than ${MAX_VALUE_CHARS} characters`;

export async function* decodedText(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let decoder: TextDecoder | undefined;
  let start = new Uint8Array();
  for await (const chunk of bytes) {
    const next = start.length === 0 ? chunk : new Uint8Array([...start, ...chunk]);
    start = new Uint8Array();
    if (decoder === undefined && next.length < 2) {
      start = new Uint8Array(next);
      continue;
    }
    decoder ??= new TextDecoder(encodingOf(next));
    yield decoder.decode(next, { stream: true });
  }
  yield (decoder ?? new TextDecoder()).decode(start);
}

/** Ends with a problem at a line that is too long. */
export async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<Line | FileProblem, void> {
  let line = 1;
  let pending = "";
  let lineEnd = ""; // a CR whose LF may be in the next chunk
  for await (const chunk of chunks) {
    const text = lineEnd + chunk;
    lineEnd = text.endsWith("\r") ? "\r" : "";
    const [first = "", ...others] = text.slice(0, text.length - lineEnd.length).split(/\r\n|\r|\n/);
    const texts = [pending + first, ...others];
    pending = texts.pop() ?? "";
    for (const each of texts) yield { line: line++, text: each };
    if (pending.length > MAX_VALUE_CHARS) return yield { problem: `line ${line}: ${TOO_LONG}` };
  }
  yield { line, text: pending };
}
