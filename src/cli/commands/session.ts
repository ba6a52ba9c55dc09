/** Which service the command line talks to, as whom, and how it prints what comes back. */
import { userInfo } from "node:os";
import type { ClientResponse } from "hono/client";
import { type Access, type AdminClient, AdminFailure, adminClient, failureOf } from "../admin-client.ts";
import { DEV_VARS, readAdminToken } from "../dev-vars.ts";

export type Session = {
  readonly client: AdminClient;
  readonly access: Access;
  /** Prints bodies exactly as they came. */
  readonly json: boolean;
};

export type GlobalOptions = { url?: string; json?: boolean };

const LOCAL_URL = "http://localhost:8787";

export function openSession(options: GlobalOptions): Session {
  const baseUrl = options.url ?? (process.env.ADMIN_URL || LOCAL_URL);
  if (!isHttpUrl(baseUrl)) throw new AdminFailure(`${baseUrl} is no http address.`);
  const access = { baseUrl, token: tokenFor(baseUrl), operator: operatorName() };
  return { client: adminClient(access), access, json: options.json ?? false };
}

function tokenFor(baseUrl: string): string {
  const token = process.env.ADMIN_TOKEN?.trim() || (isLocal(baseUrl) ? readAdminToken(DEV_VARS) : undefined);
  if (token === undefined) {
    throw new AdminFailure(
      isLocal(baseUrl)
        ? "There is no token: set ADMIN_TOKEN, or run npm start once, which makes one."
        : `There is no token for ${baseUrl}: set ADMIN_TOKEN.`,
    );
  }
  // Here, because what refuses it later on repeats it.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new AdminFailure("ADMIN_TOKEN has characters that no token has.");
  return token;
}

/** Prints the answer: as it came, or as `render` has it for people. Throws what the service refused with. */
export async function show<Body>(
  session: Session,
  asked: Promise<ClientResponse<Body>>,
  render: (body: Body) => string,
): Promise<void> {
  const text = await answerOf(session.access.baseUrl, asked);
  // The typed client knows the body's type; the digits of an int64 are kept as text, which prints the same.
  console.log(session.json ? text : render(JSON.parse(text, keepLongIntegers) as Body));
}

type Answer = { ok: boolean; status: number; text(): Promise<string> };

/** The JSON text of an answer. Throws what the service refused with, and what some other server says. */
export async function answerOf(baseUrl: string, asked: Promise<Answer>): Promise<string> {
  const response = await reaching(baseUrl, asked);
  if (!response.ok) throw await reaching(baseUrl, failureOf(response));
  const text = await reaching(baseUrl, response.text());
  if (isJson(text)) return text;
  throw new AdminFailure(`${baseUrl} does not answer as this service does. Is it the right address?`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A connection that cannot be made, or that breaks, is told with the address, not with a stack. */
async function reaching<T>(baseUrl: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (thrown) {
    const hint = isLocal(baseUrl) ? " Is it running (npm start)?" : "";
    throw new AdminFailure(`${baseUrl} cannot be reached.${hint}`, { cause: thrown });
  }
}

const keepLongIntegers = ((_key: string, value: unknown, context: { source: string }) =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source)
    ? context.source
    : value) as Parameters<typeof JSON.parse>[1]; // The standard library's types do not know the third argument yet.

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isLocal(url: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
}

function operatorName(): string {
  try {
    return userInfo()
      .username.replace(/[^\w.@ -]/g, "_")
      .slice(0, 64);
  } catch {
    // A container may run as a user without a name.
    return "operator";
  }
}
