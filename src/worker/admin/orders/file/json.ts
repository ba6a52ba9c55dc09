/** Splits the JSON of a file into its values, each with its own text: no file is too long. Pure. */
import { isRecord } from "../../../text/check-schema.ts";
import { repeated } from "../../../text/text.ts";
import { parseDigits } from "../loaded-order.ts";
import { type FileProblem, type Line, MAX_VALUE_CHARS, TOO_LONG } from "./text.ts";

/** Brackets that are open at a place of the text, and whether a string is. */
type State = { depth: number; isInText: boolean };

/**
 * Reads on from `from`, and returns the place of the next bracket that closes a value, or comma between
 * values. Returns the length of the text if the text has neither.
 */
function nextStop(text: string, from: number, state: State): number {
  for (let i = from; i < text.length; i++) {
    const sign = text.charCodeAt(i);
    if (state.isInText) {
      if (sign === 0x5c) i++;
      else if (sign === 0x22) state.isInText = false;
    } else if (sign === 0x22) state.isInText = true;
    else if (sign === 0x7b || sign === 0x5b) state.depth++;
    else if ((sign === 0x7d || sign === 0x5d) && --state.depth <= 0) return i;
    else if (sign === 0x2c && state.depth === 0) return i;
  }
  return text.length;
}

/** Splits a text that begins with a bracket into elements. Ends with a problem if the text is no array. */
export async function* elementsOf(chunks: AsyncIterable<string>): AsyncGenerator<Line | FileProblem, void> {
  const state: State = { depth: 0, isInText: false };
  let [pending, at, line] = ["", 0, 0];
  for await (const chunk of chunks) {
    pending += line === 0 ? chunk.trimStart().slice(1) : chunk;
    line ||= 1;
    if (state.depth < 0) at = pending.length;
    while (at < pending.length) {
      // A backslash at the end escapes a character of the next chunk.
      if (pending.endsWith("\\")) break;
      at = nextStop(pending, at, state);
      if (at === pending.length) break;
      const sign = pending[at++];
      if (sign !== "," && state.depth === 0) continue; // it closes the element
      const isEnd = state.depth < 0;
      if (isEnd && sign !== "]")
        return yield { problem: `element ${line}: a bracket closes what is not open` };
      const text = pending.slice(0, at - 1).trim();
      if (text !== "") yield { line, text };
      else if (line > 1 || !isEnd) return yield { problem: `element ${line}: is missing` };
      [pending, at, line] = [pending.slice(at), 0, line + 1];
      if (isEnd) break;
    }
    if (state.depth < 0 && pending.trim() !== "") return yield { problem: "text follows the array" };
    if (pending.length > MAX_VALUE_CHARS) return yield { problem: `element ${line}: ${TOO_LONG}` };
  }
  if (state.depth >= 0) yield { problem: "the array does not end: the file was cut off" };
}

/** Each line is an object. A tool that spreads objects over lines begins with a bracket alone. */
export async function* objectsOf(
  lines: AsyncIterable<Line | FileProblem>,
): AsyncGenerator<Line | FileProblem, void> {
  for await (const each of lines) {
    const text = "problem" in each ? "" : each.text.trim();
    if (text === "{") return yield { problem: "an object is on several lines: write one a line, as jq -c" };
    if ("problem" in each || text !== "") yield each;
  }
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/gs;

export type Parsed = { readonly value: unknown } | { readonly reason: string; readonly isJson: boolean };

/** Parses a value whose numbers keep their digits. A member that stands twice is refused. */
export function parseOnce(text: string): Parsed {
  try {
    const value = parseDigits(text);
    const twice = memberTwiceIn(text, value);
    if (twice === undefined) return { value };
    return { reason: `has the member ${JSON.stringify(repeated(twice, 60))} twice`, isJson: true };
  } catch (thrown) {
    if (thrown instanceof RangeError) return { reason: "is nested too deeply", isJson: true };
    return { reason: thrown instanceof Error ? thrown.message : String(thrown), isJson: false };
  }
}

/** Nearly every object has as many names as members, and is not read again. */
function memberTwiceIn(text: string, value: unknown): string | undefined {
  const isFlat = isRecord(value) && !/"\s+:/.test(text);
  if (isFlat && text.split('":').length === Object.keys(value).length + 1) return undefined;
  const names = new Set<string>();
  let depth = 0;
  for (const [token, colon] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (colon !== undefined && depth === 1) {
      const name = String(JSON.parse(token.slice(0, -colon.length)));
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  return undefined;
}
