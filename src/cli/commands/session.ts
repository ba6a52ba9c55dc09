/** One run of the command line: its options, its connection to the service, and how it prints answers. */

import { userInfo } from "node:os";
import { isJson } from "../../worker/is-json.ts";
import {
  type Access,
  type AdminClient,
  AdminFailure,
  adminClient,
  DEFAULT_TIMEOUT_SECONDS,
  failureOf,
  LostAnswer,
} from "../admin-client.ts";
import { credentialsFor } from "../credentials.ts";
import { DEV_VARS } from "../dev-vars.ts";
import type { CliIo } from "../io.ts";
import { LOOPBACK_HOSTS } from "../no-proxy.ts";
import { printable, printableData } from "../printable.ts";
import { parseAnswer, type Shape } from "./answers.ts";
import { refuseCredential } from "./arguments.ts";
import { csv } from "./csv.ts";
import type { Cell } from "./print.ts";
import { type Column, table } from "./table.ts";

export type Session = {
  readonly client: AdminClient;
  readonly access: Access;
  /** Print answers exactly as they came. */
  readonly json: boolean;
  /** Print lists as CSV. */
  readonly csv: boolean;
  readonly io: CliIo;
};

export type GlobalOptions = { url?: string; json?: boolean; csv?: boolean; timeout?: number };

const LOCAL_URL = "http://localhost:8787";

/** `onChange` is called before a request is sent that can change something. */
export function openSession(
  options: GlobalOptions,
  io: CliIo,
  argv: readonly string[],
  onChange: () => void,
): Session {
  const baseUrl = originOf(options.url ?? (io.env.ADMIN_URL || LOCAL_URL));
  if (baseUrl.startsWith("http:") && !isLocal(baseUrl)) {
    throw new AdminFailure(`${baseUrl} would receive the admin token unencrypted: use https.`);
  }
  const access = {
    baseUrl,
    ...credentialsFor(baseUrl, isLocal(baseUrl) ? DEV_VARS : undefined, io.env),
    operator: operatorName(),
    signal: io.interruption,
    onChange,
    timeoutSeconds: options.timeout ?? DEFAULT_TIMEOUT_SECONDS,
  };
  refuseCredential(argv, access.token);
  return {
    client: adminClient(access),
    access,
    json: options.json ?? false,
    csv: options.csv ?? false,
    io,
  };
}

export function print({ io }: Session, text: string): void {
  io.stdout.write(`${printable(text)}\n`);
}

/** Prints the answer: unchanged with `--json`, otherwise as `render` formats it. Throws if the service refused. */
export async function show<Body>(
  session: Session,
  response: Promise<Answer<NoInfer<Body>>>,
  shape: Shape<Body>,
  render: (body: Body) => string,
): Promise<void> {
  const text = await answerOf(session.access, response);
  print(session, session.json ? text : render(parseAnswer(shape, text)));
}

/** To the top left corner, then clears what is below it. */
const CLEAR_SCREEN = "\u001b[H\u001b[J";

/** A list of the service. `next` is the option that shows the next page, and its value. */
export type List = {
  /** Shown instead of what the terminal showed before. */
  readonly isRepeated?: boolean;
  /** What was asked for besides the rows: above the title, and on standard error with `--csv`. */
  readonly finding?: string;
  readonly title?: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** What to know of the rows. */
  readonly note?: string;
  readonly next?: readonly [option: string, value: string | number | null];
  /** How it is shown on a terminal, if not as a table. */
  readonly chart?: (width: number) => string;
};

/** Prints a list: as the service sent it with `--json`, as CSV with `--csv`, otherwise as a table. */
export async function showList<Body>(
  session: Session,
  response: Promise<Answer<NoInfer<Body>>>,
  shape: Shape<Body>,
  listOf: (body: Body) => List,
): Promise<void> {
  await printList(session, await answerOf(session.access, response), shape, listOf);
}

/** Prints the JSON text of an answer, as `showList` does. */
export async function printList<Body>(
  session: Session,
  text: string,
  shape: Shape<Body>,
  listOf: (body: Body) => List,
): Promise<void> {
  if (session.json) print(session, text);
  else if (session.csv) printCsv(session, listOf(parseAnswer(shape, text)));
  else await printTable(session, listOf(parseAnswer(shape, text)));
}

function printCsv(session: Session, { finding, columns, rows, note, next }: List): void {
  session.io.stdout.write(`${printableData(csv(columns, rows))}\n`);
  const more = textOf(finding, note, describeNext(next));
  if (more !== "") session.io.stderr.write(printable(`${more}\n`));
}

/** A file or a pipe has none. A terminal that does not know its own says 0. */
export function widthOf({ columns }: { readonly columns?: number }): number {
  return columns || Number.POSITIVE_INFINITY;
}

async function printTable(session: Session, list: List): Promise<void> {
  const { isRepeated, finding, title, columns, rows, note, next, chart } = list;
  const { stdout, interruption } = session.io;
  const width = widthOf(stdout);
  const shown = chart === undefined ? await table(columns, rows, width, interruption) : chart(width);
  if (isRepeated && Number.isFinite(width)) stdout.write(CLEAR_SCREEN);
  const above = finding === undefined ? undefined : `${finding}\n`;
  print(session, textOf(above, title, shown, note, describeNext(next)));
}

function textOf(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part).join("\n");
}

function describeNext(next: List["next"]): string {
  return next === undefined || next[1] === null ? "" : `More: ${next[0]} ${next[1]}`;
}

/** The body of an answer that the command itself needs. One that it prints as JSON needs `exactNumber`. */
export async function bodyOf<Body>(
  access: Access,
  response: Promise<Answer<NoInfer<Body>>>,
  shape: Shape<Body>,
  reviveNumber?: (value: number, source: string) => unknown,
): Promise<Body> {
  return parseAnswer(shape, await answerOf(access, response), reviveNumber);
}

/** `Body` is the type that the typed client knows, so that the shapes are those of the service. */
export type Answer<Body = unknown> = {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  text(): Promise<string>;
  json(): Promise<Body>;
};

/** An answer with JSON that SQLite wrote, as orders have it. The typed client does not know its type, so any shape fits. */
export function untyped(response: Promise<Answer>): Promise<Answer<never>> {
  return response as Promise<Answer<never>>; // only its text is read, and compared with the shape
}

/** The JSON text of an answer. Throws if the service refused, or if the server is not this service. */
export async function answerOf(access: Access, pending: Promise<Answer>): Promise<string> {
  const response = await withConnection(access, pending);
  if (!response.ok) throw await withConnection(access, failureOf(response));
  const text = await withConnection(access, response.text());
  if (isJson(text)) return text;
  throw new LostAnswer(`${access.baseUrl} does not answer as this service does. Is it the right address?`);
}

/** Of Node and undici, for a connection that was not made, so that nothing was sent. A bad port has no code. */
const NEVER_MADE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|\w*CERT\w*|UNABLE_TO_VERIFY\w*|ERR_SSL\w*|bad port)$/;

/** Reports a connection that cannot be made, that breaks, or that is silent, with the address instead of a stack. */
export async function withConnection<T>(
  { baseUrl, timeoutSeconds }: Access,
  pending: Promise<T>,
): Promise<T> {
  try {
    return await pending;
  } catch (thrown) {
    if (thrown instanceof AdminFailure) throw thrown;
    if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
      throw new LostAnswer(`${baseUrl} did not answer within ${timeoutSeconds} seconds (--timeout).`);
    }
    if (!NEVER_MADE.test(causeOf(thrown))) {
      throw new LostAnswer(`The connection to ${baseUrl} broke.`, { cause: thrown });
    }
    const hint = isLocal(baseUrl) ? " Is it running (npm start)?" : "";
    throw new AdminFailure(`${baseUrl} cannot be reached.${hint}`, { cause: thrown });
  }
}

/** `fetch` has a code in the cause of its error, or only a message. */
function causeOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (!(cause instanceof Error)) return "";
  return "code" in cause && cause.code !== undefined ? String(cause.code) : cause.message;
}

/** Nothing else of the address is used. The messages do not repeat the rest, which can be a secret in the wrong place. */
function originOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && url.username + url.password !== "") {
    throw new AdminFailure("The address must not contain a user name or a password.");
  }
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new AdminFailure("The address, from --url or ADMIN_URL, is not an http or https address.");
  }
  return url.origin;
}

function isLocal(url: string): boolean {
  return LOOPBACK_HOSTS.includes(new URL(url).hostname);
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
