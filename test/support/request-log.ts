/** The log of a service under test: one line for each request, and no secret in any line. */

export type LogLine = Record<string, unknown> & { readonly event: string };

type Expected = {
  readonly method: string;
  readonly response: Pick<Response, "status" | "headers">;
  readonly secret: string | null;
};

const MAX_WAIT_MS = 5_000;

/** What `route` of a line can be: patterns of routes, never the path that a client sent. */
const ROUTE =
  /^\/(?:(?:v1|admin|console)(?:\/(?:[a-z-]+|:[a-zA-Z]+))*(?:\/\*|\/openapi\.json)?|health|openapi\.json|\*)?$/;

export class RequestLog {
  readonly #lines: string[] = [];
  /** By the id of the request. */
  readonly #requests = new Map<string, LogLine[]>();
  readonly #expected: Expected[] = [];
  readonly #secrets: Set<string>;

  constructor(secrets: readonly string[]) {
    this.#secrets = new Set(secrets);
  }

  add(text: string): void {
    this.#lines.push(text);
    const line = parse(text);
    if (line?.event !== "request") return;
    const id = String(line.requestId);
    this.#requests.set(id, [...(this.#requests.get(id) ?? []), line]);
  }

  /** From now on, `check` expects the line of this response. */
  expect(expected: Expected): void {
    this.#expected.push(expected);
    // Shorter ones are no secrets, but words of a test.
    if (expected.secret !== null && expected.secret.length >= 20) this.#secrets.add(expected.secret);
  }

  /** The line of one request. */
  lineOf({ headers }: Expected["response"]): Promise<LogLine> {
    const id = headers.get("X-Request-Id") ?? "";
    return soon(() => this.#requests.get(id)?.[0]);
  }

  /** The line of a request without a response. */
  find(isIt: (line: LogLine) => boolean): Promise<LogLine> {
    return soon(() => this.linesOf(isIt)[0]);
  }

  linesOf(isIt: (line: LogLine) => boolean): readonly LogLine[] {
    return [...this.#requests.values()].flat().filter(isIt);
  }

  async check(): Promise<void> {
    const problems: string[] = [];
    for (const { method, response } of this.#expected.splice(0)) {
      const { requestId, ...line } = await this.lineOf(response);
      if (line.status !== response.status || line.method !== method)
        problems.push(`not the line of ${requestId}: ${JSON.stringify(line)}`);
    }
    for (const lines of this.#requests.values()) {
      if (lines.length > 1) problems.push(`${lines.length} lines of one request: ${JSON.stringify(lines)}`);
      for (const line of lines)
        if (!ROUTE.test(String(line.route))) problems.push(`a path: ${JSON.stringify(line)}`);
    }
    const text = this.#lines.join("\n");
    // A key without its prefix is as secret.
    const leaked = [...this.#secrets].filter((secret) => text.includes(secret.replace(/^sok_/, "")));
    if (leaked.length > 0 || /sok_[0-9A-Za-z]{8}/.test(text)) problems.push("a line has a key or a token");
    this.#lines.length = 0;
    this.#requests.clear();
    if (problems.length > 0) throw new Error(`The log is wrong:\n${problems.slice(0, 10).join("\n")}`);
  }
}

/** A line arrives after its response. */
async function soon(get: () => LogLine | undefined): Promise<LogLine> {
  for (const endMs = Date.now() + MAX_WAIT_MS; Date.now() < endMs; ) {
    const line = get();
    if (line) return line;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error("the log has no line of the request");
}

/** workerd's own lines are no JSON. */
function parse(text: string): LogLine | undefined {
  try {
    return JSON.parse(text) as LogLine; // what the Worker writes
  } catch {
    return undefined;
  }
}
