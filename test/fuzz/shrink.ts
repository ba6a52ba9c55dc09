/** Reduces an input that fails to one that is as small as possible and still fails. */
import type { Input } from "./input.ts";

const MAX_TRIES = 300;

export async function shrink(input: Input, fails: (candidate: Input) => Promise<boolean>): Promise<Input> {
  let smallest = input;
  let tries = 0;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of smallerThan(smallest)) {
      if (++tries > MAX_TRIES) return smallest;
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

function* smallerThan(input: Input): Generator<Input> {
  const { headers, requestLine, body } = input;
  for (let i = headers.length - 1; i >= 0; i--) yield { ...input, headers: headers.toSpliced(i, 1) };
  for (const text of shorter(body)) yield { ...input, ...withBody(headers, text) };
  for (const text of shorter(requestLine)) yield { ...input, requestLine: text };
  for (const [i, line] of headers.entries()) {
    if (line.length <= 60) continue;
    for (const text of shorter(line)) yield { ...input, headers: headers.toSpliced(i, 1, text) };
  }
}

/** A length that was right stays right. */
function withBody(headers: readonly string[], body: string): Pick<Input, "headers" | "body"> {
  return {
    headers: headers.map((line) =>
      /^Content-Length: \d+$/.test(line) ? `Content-Length: ${body.length}` : line,
    ),
    body,
  };
}

/** Without parts of ever smaller size. */
function* shorter(text: string): Generator<string> {
  for (let size = Math.ceil(text.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
    if (text.length / size > 40) return;
    for (let start = 0; start < text.length; start += size)
      yield text.slice(0, start) + text.slice(start + size);
  }
}
