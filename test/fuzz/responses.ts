/** Reads HTTP/1.1 responses from the bytes of a connection. */

export type Answer = {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

/** The whole responses, and how many bytes are left. Interim responses (1xx) are left out. */
export function parseResponses(
  bytes: Buffer,
  methods: readonly string[],
  isClosed: boolean,
): { answers: Answer[]; rest: number } {
  const text = bytes.toString("latin1");
  const answers: Answer[] = [];
  let position = 0;
  while (position < text.length) {
    const parsed = parseOne(text, position, methods[answers.length] ?? "GET", isClosed);
    if (!parsed) break;
    position = parsed.end;
    if (parsed.answer.status >= 200) answers.push(parsed.answer);
  }
  return { answers, rest: text.length - position };
}

function parseOne(
  text: string,
  start: number,
  method: string,
  isClosed: boolean,
): { answer: Answer; end: number } | undefined {
  const headEnd = text.indexOf("\r\n\r\n", start);
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...lines] = text.slice(start, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1]);
  if (!Number.isInteger(status)) return undefined;
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const before = headers.get(name);
    const value = line.slice(colon + 1).trim();
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  const from = headEnd + 4;
  const hasBody = method !== "HEAD" && status >= 200 && status !== 204 && status !== 304;
  const read = hasBody ? readBody(text, from, headers, isClosed) : { body: "", end: from };
  return (
    read && {
      answer: { status, headers, body: Buffer.from(read.body, "latin1").toString("utf8") },
      end: read.end,
    }
  );
}

type Body = { readonly body: string; readonly end: number };

function readBody(
  text: string,
  from: number,
  headers: ReadonlyMap<string, string>,
  isClosed: boolean,
): Body | undefined {
  if (headers.get("transfer-encoding") === "chunked") return readChunks(text, from);
  const length = headers.get("content-length");
  if (length === undefined) return isClosed ? { body: text.slice(from), end: text.length } : undefined;
  const end = from + Number(length);
  return end <= text.length ? { body: text.slice(from, end), end } : undefined;
}

function readChunks(text: string, from: number): Body | undefined {
  let body = "";
  for (let position = from; ; ) {
    const lineEnd = text.indexOf("\r\n", position);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(text.slice(position, lineEnd), 16);
    const end = lineEnd + 2 + size;
    if (end + 2 > text.length) return undefined;
    body += text.slice(lineEnd + 2, end);
    if (size === 0) return { body, end: end + 2 };
    position = end + 2;
  }
}
