/** One run of the command line: its connection to the service, and how its commands ask and print. */
import type { Command } from "commander";
import type { KeyView } from "../worker/admin/keys/schema.ts";
import { isKeyId } from "../worker/auth/key.ts";
import type { Access } from "./access.ts";
import { type Answer, call, type Query } from "./api.ts";
import { confirm, count } from "./arguments.ts";
import { CliError, type CliIo } from "./io.ts";
import { type Column, csvOf, describe, printable, table, toJson } from "./output.ts";

export type Session = {
  readonly io: CliIo;
  /** Throws if there is no address or token. A command that sends nothing does not read it. */
  readonly access: Access;
  /** Print answers exactly as they came. */
  readonly json: boolean;
};

export function print({ io }: Session, text: string): void {
  io.stdout.write(`${printable(text)}\n`);
}

/** Prints an answer: unchanged with `--json`. `key` is a secret, which only the answer to its issue has. */
export function show(session: Session, { text, body }: Answer<object>): void {
  if (session.json) session.io.stdout.write(`${text}\n`);
  else {
    const { key, ...members }: { key?: unknown } = body;
    const secret = key === undefined ? "" : `\n\nThe key, shown only now:\n\n  ${key}`;
    print(session, describe(members) + secret);
  }
}

/** The id of the key that an argument names: by its id or the beginning of it, its name, or the end of a secret. */
export async function keyId({ access }: Session, ref: string): Promise<string> {
  if (isKeyId(ref)) return ref;
  const { body } = await call<{ keys: KeyView[] }>(access, "GET /keys", { query: { ref, limit: 10 } });
  const [key, ...others] = body.keys;
  if (key === undefined) throw new CliError(`No key has this id, name or end: ${ref}`, { code: "not_found" });
  if (others.length === 0) return key.id;
  const candidates = body.keys.map(({ id, name, plan, status }) => `\n  ${id}  ${name} (${plan}, ${status})`);
  throw new CliError(`Several keys fit ${ref}:${candidates.join("")}`, { code: "several_keys" });
}

/** The examples are what follows the command, with `acme` for a key. */
export function addCommand(parent: Command, usage: string, does: string, ...examples: string[]): Command {
  const line = [parent.parent && parent.name(), usage.replace(/<key>/, "acme").replace(/ \[key\]/, "")];
  const start = `\n  store-orders ${line.filter((part) => part !== null).join(" ")}`;
  const lines = (examples.length > 0 ? examples : [""]).map((example) => `${start} ${example}`.trimEnd());
  return parent
    .command(usage)
    .description(does)
    .addHelpText("after", `\nExamples:${lines.join("")}`);
}

export type KeyCall = {
  /** The method, and what follows `/keys/{id}`. */
  readonly line: string;
  readonly json?: object;
  /** What a person has to agree to. */
  readonly ask?: string | false;
  /** What to say in words, if the answer is the key. */
  readonly says?: (key: KeyView) => string;
};

/** A command of one key, which its first argument names. `argument` is the second one. */
export function addKeyCommand<Options extends object>(
  parent: Command,
  session: Session,
  usage: string,
  does: string,
  toCall: (options: Options, argument: string) => KeyCall,
  ...examples: string[]
): Command {
  const command = addCommand(parent, `${usage} <key>`, does, ...examples);
  return command.action(async (ref: string) => {
    const { yes, ...options } = command.opts();
    const { line, json, ask, says } = toCall(options as Options, command.args[1] ?? ""); // as the command declares them
    const key = await keyId(session, ref);
    if (ask) await confirm(session.io, yes, () => question(session, key, ask));
    const path = line.replace(" ", ` /keys/${key}`) as `GET /${string}`; // or another method
    const answer = await call<KeyView>(session.access, path, json && { json });
    show(session, answer);
    if (says && !session.json) print(session, `\n${says(answer.body)}`);
  });
}

async function question({ access }: Session, id: string, ask: string): Promise<string> {
  const { name, plan, lastUsedDay } = (await call<KeyView>(access, `GET /keys/${id}`)).body;
  return `Key ${id} (${name}, plan ${plan}, last used ${lastUsedDay ?? "never"}): ${ask}.`;
}

type List<Row, Body> = {
  readonly path: `/${string}`;
  /** The member of the answer that has the rows. */
  readonly rows: string;
  readonly columns: readonly Column<Row>[];
  /** Absent: the options. */
  readonly query?: Query;
  /** What the service calls `after`; null: the list has one page. */
  readonly cursor?: "after" | "before" | null;
  /** What to know of the table, from its first page. */
  readonly heading?: (page: Body) => string;
};

type Page = { readonly next?: string | number | null } & Readonly<Record<string, unknown>>;
type ToList<Row, Body> = (options: Query, ref: string) => List<Row, Body> | Promise<List<Row, Body>>;

/** A command that prints a list. `toList` gets the options and the first argument. An option `key` names a key. */
export function addList<Row extends object, Body extends object>(
  parent: Command,
  session: Session,
  usage: string,
  does: string,
  toList: List<Row, Body> | ToList<Row, Body>,
  ...examples: string[]
): Command {
  const command = addCommand(parent, usage, does, ...examples);
  command.option("--csv", "print the list as CSV, with every member of its rows");
  if (typeof toList === "function" || toList.cursor !== null) {
    command.option("--limit <n>", "the maximum number of rows to show", count, 100);
    command.option("--after <next>", "go on after a list that ended with `More:`");
  }
  return command.action(async () => {
    const { limit, after, csv, ...query } = command.opts();
    const list = typeof toList === "function" ? await toList(query, command.args[0] ?? "") : toList;
    const pages = await fetchPages<Body & Page>(session, { query, ...list }, limit, after);
    showPages<Row, Body & Page>(session, list, pages, csv);
  });
}

function showPages<Row extends object, Body extends Page>(
  { io, json }: Session,
  { rows: name, columns, heading }: List<Row, Body>,
  pages: readonly Body[],
  isCsv: boolean,
): void {
  const rows = pages.flatMap((page) => page[name] as Row[]); // as the route answers
  const next = pages.at(-1)?.next;
  if (json) io.stdout.write(`${toJson({ ...pages.at(-1), [name]: rows })}\n`);
  else if (isCsv) io.stdout.write(csvOf(rows));
  else {
    const above = heading && pages[0] ? `${heading(pages[0])}\n` : "";
    io.stdout.write(printable(`${above}${table(rows, columns, io.columns)}\n`));
  }
  if (next && !json) io.stderr.write(printable(`More: --after ${next}\n`));
}

/** The largest page that the service has. */
export const MAX_PAGE_ROWS = 500;

/** More rows than one page has take several. */
async function fetchPages<Body extends Page>(
  session: Session,
  { path, rows, query = {}, cursor = "after" }: List<never, Body>,
  limit = 1,
  after?: string,
): Promise<Body[]> {
  const key = query.key === undefined ? undefined : await keyId(session, String(query.key));
  const pages: Body[] = [];
  let from: string | undefined = after;
  for (let missing = limit; missing > 0; ) {
    const range = cursor && { limit: Math.min(missing, MAX_PAGE_ROWS), [cursor]: from };
    const { body } = await call<Body>(session.access, `GET ${path}`, { query: { ...query, key, ...range } });
    pages.push(body);
    if (!body.next) break;
    missing -= (body[rows] as readonly unknown[]).length; // as the route answers
    from = String(body.next);
  }
  return pages;
}
