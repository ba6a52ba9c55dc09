/** One run of the command line: its connection to the service, and how its commands ask and print. */
import type { Command } from "commander";
import type { KeyView } from "../worker/admin/keys/sql.ts";
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

/** Prints an answer: unchanged with `--json`, otherwise as `render` formats it. */
export function show<Body extends object>(
  session: Session,
  { text, body }: Answer<Body>,
  render: (body: Body) => string = (shown) => describe(shown, session.io.columns),
): void {
  if (session.json) session.io.stdout.write(`${text}\n`);
  else print(session, render(body));
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

/** The examples are command lines without the program's name. */
export function addCommand(parent: Command, usage: string, does: string, ...examples: string[]): Command {
  const lines = examples.map((example) => `\n  store-orders ${example}`);
  return parent
    .command(usage)
    .description(does)
    .addHelpText("after", `\nExamples:${lines.join("")}`);
}

/** `line`: the method, and what follows `/keys/{id}`. `ask`: what a person has to agree to. */
export type KeyCall = { readonly line: string; readonly json?: object; readonly ask?: string | false };

type Words = readonly [usage: string, does: string, ...examples: string[]];

/** A command of one key, which its first argument names. `argument` is the second one. */
export function addKeyCommand<Options extends object, Body extends object = object>(
  parent: Command,
  session: Session,
  words: Words,
  toCall: (options: Options, argument: string) => KeyCall,
  render?: (body: Body) => string,
): Command {
  const command = addCommand(parent, ...words);
  return command.action(async (ref: string) => {
    const { yes, ...options } = command.opts();
    const { line, json, ask } = toCall(options as Options, command.args[1] ?? ""); // as the command declares them
    const key = await keyId(session, ref);
    if (ask) await confirm(session.io, yes, () => question(session, key, ask));
    const path = line.replace(" ", ` /keys/${key}`) as `GET /${string}`; // or another method
    show(session, await call<Body>(session.access, path, json && { json }), render);
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

type Range = { readonly limit: number; readonly after?: string | undefined; readonly csv?: boolean };
type Page = { readonly next?: string | number | null } & Readonly<Record<string, unknown>>;

/** A command that prints a list. `toList` gets the options and the first argument. An option `key` names a key. */
export function addList<Row extends object, Body extends object>(
  parent: Command,
  session: Session,
  words: Words,
  toList: List<Row, Body> | ((options: Query, ref: string) => List<Row, Body> | Promise<List<Row, Body>>),
): Command {
  const command = addCommand(parent, ...words).option("--csv", "print the list as CSV, with every member");
  if (typeof toList === "function" || toList.cursor !== null) {
    command.option("--limit <n>", "the maximum number of rows to show", count, 100);
    command.option("--after <next>", "go on after a list that ended with `More:`");
  }
  return command.action(async () => {
    const { limit = 1, after, csv, ...query } = command.opts();
    const list = typeof toList === "function" ? await toList(query, command.args[0] ?? "") : toList;
    await showList<Row, Body & Page>(session, { query, ...list }, { limit, after, csv });
  });
}

async function showList<Row extends object, Body extends Page>(
  session: Session,
  list: List<Row, Body>,
  range: Range,
): Promise<void> {
  const { io, json } = session;
  const pages = await fetchPages(session, list, range);
  const rows = pages.flatMap((page) => page[list.rows] as Row[]); // as the route answers
  const [first, next] = [pages[0], pages.at(-1)?.next];
  if (json) io.stdout.write(`${toJson({ ...pages.at(-1), [list.rows]: rows })}\n`);
  else if (range.csv) io.stdout.write(csvOf(rows));
  else {
    if (list.heading && first) print(session, list.heading(first));
    print(session, table(rows, list.columns, io.columns));
  }
  if (next && !json) io.stderr.write(printable(`More: --after ${next}\n`));
}

/** The largest page that the service has. */
export const MAX_PAGE_ROWS = 500;

/** More rows than one page has take several. */
async function fetchPages<Body extends Page>(
  session: Session,
  { path, rows, query = {}, cursor = "after" }: List<never, Body>,
  { limit, after }: Range,
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
