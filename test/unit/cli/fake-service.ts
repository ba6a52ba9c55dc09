/** A service that answers what the test says, in place of `fetch`. */
import { afterEach, beforeEach } from "vitest";
import { type Finished, runAdmin } from "../../support/cli.ts";

export const TOKEN = "an-admin-token-for-the-tests-only";

type Sent = { readonly line: string; readonly headers: Headers; readonly body: string };

type Reply = Response | Error | object | string;

/** The requests of the test's command, and what answers them: a Response, an error of `fetch`, or a body. */
export const sent: Sent[] = [];
let replies: Reply[] = [];

/** Replaces `fetch` in each test of the file. Each file calls it, as files share the modules of a process. */
export function useFakeService(): void {
  const { fetch } = globalThis;
  beforeEach(() => {
    sent.length = 0;
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const { pathname, search } = new URL(request.url);
      const body = await request.text();
      sent.push({ line: `${request.method} ${pathname}${search}`, headers: request.headers, body });
      const reply = replies.shift() ?? new Error("the test has no further answer");
      if (reply instanceof Error) throw reply;
      if (reply instanceof Response) return reply;
      const text = typeof reply === "string" ? reply : JSON.stringify(reply);
      return new Response(text, { headers: { "Content-Type": "application/json" } });
    };
  });
  afterEach(() => {
    globalThis.fetch = fetch;
  });
}

/** Runs a command that gets these answers, one after the other. */
export function run(
  args: readonly string[],
  answers: readonly Reply[] = [],
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly input?: string | Buffer;
    readonly isInteractive?: boolean;
  } = {},
): Promise<Finished> {
  replies = [...answers];
  const env = { ADMIN_URL: "https://orders.example.com", ADMIN_TOKEN: TOKEN, ...options.env };
  return runAdmin(args, env, options);
}

/** `run`, of a command line without quoted words. */
export function runLine(line: string, ...answers: readonly Reply[]): Promise<Finished> {
  return run(line.split(" "), answers);
}

/** The service's Error object. */
export function refusal(status: number, code: string, message: string): Response {
  return Response.json({ code, message, status }, { status });
}

/** What `fetch` throws. */
export function connectionError(code: string): Error {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
}
