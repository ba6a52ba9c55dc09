/** Makes a command of each call of the admin API. The members of the query and the body are its options. */

import { type Command, Option } from "commander";
import type { ChangedKeys, KeyView } from "../worker/admin/keys/schema.ts";
import type { Shipment } from "../worker/admin/orders/schema.ts";
import { saysOfEnding } from "../worker/admin/says.ts";
import { send } from "./api.ts";
import { confirm, parseCount, parseWholeNumber, requireTerminal, seconds } from "./arguments.ts";
import { type DocumentedCall, type Member, readReference } from "./calls.ts";
import { CliError } from "./io.ts";
import { LISTS, type Paging, showList } from "./lists.ts";
import { printable, table } from "./output.ts";
import {
  addCommand,
  type Connection,
  customerId,
  findKeyId,
  groupOf,
  objectId,
  renamed,
  show,
} from "./session.ts";

/** Other calls have the words of their id: `keys.update` is `keys update`. */
const LINES: Readonly<Record<string, string>> = {
  "health.show": "health",
  "keys.end_temporary_limits": "keys end-limit",
  "keys.limit_temporarily": "keys limit",
  "keys.retire": "keys end-secret",
  "keys.revoke_several": "keys revoke",
  "keys.usage": "usage",
  "plans.update": "plans set",
  "usage.list": "usage",
};
/** A command reads files, and the others are for programs and for *Overview*. */
export const BY_HAND = ["orders.load", "metrics.show", "reference.show", "usage.near"];
const FLAGS: Readonly<Record<string, string>> = {
  expiringBefore: "--expiring-within",
  from: "--since",
  graceSeconds: "--grace",
  petId: "--pet",
  requestsPerDay: "--per-day",
  requestsPerMinute: "--per-minute",
  seconds: "--for",
};
/** What finds the ids of objects that people call by other names, too. */
const IDS: Readonly<Record<string, typeof findKeyId>> = { key: findKeyId, customer: customerId };
const DRY_RUN = "dry run: nothing was changed\n";
/** Members of every list, for which the command has options of its own. */
const PAGING = ["after", "format", "limit"];

/** A way to use a command. Each way makes one call. */
type Form = {
  readonly call: DocumentedCall;
  readonly words: string;
  /** The arguments: `key` and `secret` of `/keys/{id}/secrets/{secretId}`, and what the query must have. */
  readonly names: readonly string[];
  readonly members: readonly Member[];
  /** The arguments are any number of keys or orders, the `ids` of the body. */
  readonly several: string | undefined;
};
type Options = Readonly<Record<string, unknown>> & Paging & { readonly yes?: true; readonly dryRun?: true };

export function addCallCommands(program: Command, session: Connection): void {
  const { nouns, calls } = readReference();
  const forms = calls.map(wayOf).filter(({ call }) => !BY_HAND.includes(call.id));
  for (const [words, ofWords] of Map.groupBy(forms, (form) => form.words)) {
    const [noun = "", verb] = words.split(" ");
    const parent = verb === undefined ? program : groupOf(program, noun, nouns.get(noun));
    // The help shows the sentence of the first form: `usage` is for all keys, and `usage <key>` for one key.
    const inOrder = ofWords.toSorted((a, b) => lengthOf(a) - lengthOf(b));
    addForms(parent, session, verb ?? noun, inOrder);
  }
}

function lengthOf({ names, several }: Form): number {
  return several ? Number.POSITIVE_INFINITY : names.length;
}

export function wayOf(call: DocumentedCall): Form {
  const words = LINES[call.id] ?? call.id.replace(".", " ");
  const inPath = [...call.line.matchAll(/(\w+?)s?\/\{/g)].map(([, name = ""]) => name);
  const needed = call.query.flatMap(({ name, isRequired }) => (isRequired ? [name] : []));
  const names = [...inPath, ...needed];
  const several = call.body.some(({ name }) => name === "ids") ? /\w+(?=s\.)/.exec(call.id)?.[0] : undefined;
  const options = ownOf(call, call.query).filter(({ isRequired }) => !isRequired);
  const members = [...options, ...call.body.filter(({ name }) => name !== "ids")];
  return { call, words, names, members, several };
}

function addForms(parent: Command, session: Connection, verb: string, forms: readonly Form[]): void {
  const [few = [], many = few] = forms.map(({ names }) => names);
  const several = forms.find((form) => form.several)?.several;
  const args = several
    ? [`[${several}...]`]
    : many.map((name) => (few.includes(name) ? `<${name}>` : `[${name}]`));
  const does = forms.map(({ call }) => call.does).join(" ");
  const command = addCommand(parent, [verb, ...args].join(" "), does, ...forms.map(exampleOf));
  // The first form describes the option: `--by` has more choices for all keys than for one key.
  const all = forms.toReversed().flatMap((form) => form.members);
  const members = new Map(all.map((member) => [member.name, member]));
  for (const member of members.values()) command.addOption(optionOf(member));
  const calls = forms.map(({ call }) => call);
  if (calls.some(({ asks }) => asks)) command.option("--yes", "do not ask");
  const hasCsv = calls.some(({ query }) => query.some(({ name }) => name === "format"));
  if (hasCsv)
    command.addOption(new Option("--csv", "print CSV: all rows, with every member").conflicts("limit"));
  if (calls.some(isPaged)) {
    command.option("--limit <n>", "the maximum number of rows to show; default: 100", parseCount);
    command.option("--all", "show every row");
  }
  command.action(async () => {
    const form = chosen(command, forms);
    await run(session, command, form).catch((thrown) => {
      throw inOptions(thrown, form);
    });
  });
}

/** The service names the member `from`, and the operator typed `--since`. */
function inOptions(thrown: unknown, form: Form): unknown {
  const names = namesOf(form);
  return renamed(thrown, (name) => (names.includes(name) ? flagOf(name) + unitOf(name) : name));
}

/** Leaves out the members that `--limit`, `--all` and `--csv` set. */
function ownOf(call: DocumentedCall, members: readonly Member[]): readonly Member[] {
  const others = isPaged(call) ? PAGING : ["format"];
  return members.filter(({ name }) => !others.includes(name));
}

function isPaged({ query }: DocumentedCall): boolean {
  return query.some(({ name }) => name === "after");
}

function optionOf({ name, type, choices, does, isNullable, byDefault }: Member): Option {
  const long = [...new Set([flagOf(name), `--${kebab(name)}`])].join(", ");
  if (byDefault === false) return new Option(long, does);
  const none = isNullable ? ["none"] : [];
  const facts = [
    does.replace(/\.$/, ""),
    isNullable && "none: no value",
    byDefault && `default: ${byDefault}`,
  ];
  const says = facts.filter(Boolean).join("; ");
  if (type === "array")
    return new Option(`${long} <n,n>`, says).argParser((text) =>
      none.includes(text) ? text : text.split(",").map(parseWholeNumber),
    );
  if (choices.length > 0) return new Option(`${long} <value>`, says).choices([...choices, ...none]);
  if (type !== "integer") return new Option(`${long} <text>`, says);
  const parse = isDuration(name) ? seconds : parseWholeNumber;
  const option = new Option(`${long} <${isDuration(name) ? "30m|24h|7d" : "n"}>`, says);
  return option.argParser((text) => (none.includes(text) ? text : parse(text)));
}

/** Commander's name of the option `--dry-run` is `dryRun`. */
function optionNameOf(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function isDuration(name: string): boolean {
  return /seconds$/i.test(name);
}

/** The operator typed `40d`, and the service names a bound in seconds. */
function unitOf(name: string): string {
  return isDuration(name) ? " in seconds" : "";
}

function flagOf(name: string): string {
  return FLAGS[name] ?? `--${kebab(name)}`;
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function exampleOf(form: Form): string {
  const options = form.members.flatMap(({ name }) => {
    const value = form.call.example?.[name];
    if (value === undefined) return [];
    const text = `${value}${isDuration(name) ? "s" : ""}`;
    return [flagOf(name), text.includes(" ") ? `"${text}"` : text];
  });
  return [usageOf(form), ...options].join(" ");
}

/** Returns the form that the arguments choose. Options of the other forms are refused. */
function chosen(command: Command, forms: readonly Form[]): Form {
  const options = command.opts();
  const refuse = (text: string): never => command.error(`error: ${text}`, { exitCode: 2 });
  const isGiven = (name: string) => options[optionNameOf(name)] !== undefined;
  const given = forms.flatMap(namesOf).filter(isGiven);
  const fitting = forms.filter((each) => each.several || each.names.length === command.args.length);
  // One key is changed by the call for one key, unless that call lacks an option.
  const form = fitting.find((each) => given.every((name) => namesOf(each).includes(name))) ?? fitting[0];
  if (form === undefined) return refuse(`Use ${forms.map(usageOf).join(" or ")}.`);
  if (form.several && command.args.length > 0 === isGiven("customer"))
    return refuse(`Give the ${form.several}s${form.several === "key" ? ", or their --customer" : ""}.`);
  const other = given.find((name) => !namesOf(form).includes(name));
  if (other) return refuse(`${usageOf(form)} has no ${flagOf(other)}.`);
  const missing = form.members.find(({ name, isRequired }) => isRequired && !isGiven(name));
  return missing ? refuse(`Give ${flagOf(missing.name)}.`) : form;
}

function namesOf({ call, members }: Form): string[] {
  return [...members.map(({ name }) => name), ...(isPaged(call) ? ["limit"] : [])];
}

function usageOf({ words, names, several }: Form): string {
  const args = several ? [`${several}...`] : names;
  return [words, ...args.map((name) => `<${name}>`)].join(" ");
}

/** The answer of a change has a sentence about it. */
type Changed = { readonly says: string; readonly delivered?: boolean } & Partial<Pick<Shipment, "missing">>;

async function run(session: Connection, command: Command, form: Form): Promise<void> {
  const { call, names, several } = form;
  const options = command.opts<Options>();
  const args = several ? [] : names.map((name, i) => [name, command.args[i] ?? ""]);
  const members = await valuesOf(session, call.body, options);
  const asks = options.yes || options.dryRun || isHarmless(call, members) ? undefined : call.asks;
  if (asks) requireTerminal(session.io);
  const ids = await Promise.all(
    command.args.map((text, i) => IDS[several ?? names[i] ?? ""]?.(session, text) ?? text),
  );
  let body = several && ids.length > 0 ? { ...members, ids: [...ids] } : members;
  const line = call.line.replace(/\{\w+\}/g, () => encodeURIComponent(ids.shift() ?? ""));
  const query = await valuesOf(session, ownOf(call, call.query), { ...options, ...Object.fromEntries(args) });
  const list = LISTS[call.id];
  if (list) return showList(session, { line, isPaged: isPaged(call), query }, list, options);
  if (line.startsWith("GET ")) return show(session, await send<object>(session.access, line, { query }));

  if (asks && several) body = await agreedBody(session, line, body, asks);
  else if (asks) await confirm(session.io, await question(session, line, asks));
  const sent = call.body.length > 0 ? { json: body } : {};
  const answer = await send<Changed>(session.access, line, { ...sent, query });
  const { says, delivered, missing = [] } = answer.body;
  show(session, answer, () => says);
  if (options.dryRun) session.io.stderr.write(DRY_RUN);
  if (delivered === false) throw new CliError("The alert did not arrive.");
  if (missing.length > 0) throw new CliError(`Some ids are of no ${several}.`);
}

/** Asks about the keys that would change, and returns the body for them: a customer may get others meanwhile. */
async function agreedBody(
  { access, io }: Connection,
  line: string,
  json: Readonly<Record<string, unknown>>,
  asks: string,
): Promise<Record<string, unknown>> {
  const { body } = await send<ChangedKeys>(access, line, { json, query: { "dry-run": "true" } });
  await confirm(io, printable(`${body.says}\n${asks}`));
  const { customer: _, ...others } = json;
  return { ...others, ids: [...body.changed, ...body.unchanged].map(({ id }) => id) };
}

/** Returns the given members in the form of the API. */
async function valuesOf(session: Connection, members: readonly Member[], options: Options) {
  const values: Record<string, unknown> = {};
  for (const { name, type, isNullable } of members) {
    const value = options[optionNameOf(name)];
    if (value === undefined) continue;
    if (value === "none" && isNullable) values[name] = null;
    else if (name === "key") values[name] = await findKeyId(session, String(value), "--key");
    else if (name === "object") values[name] = await objectId(session, String(value));
    else values[name] = type === "boolean" ? String(value) === "true" : value;
  }
  return values;
}

/** A rotation with a grace is harmless, because the old secrets go on. */
function isHarmless(
  { id }: DocumentedCall,
  { graceSeconds = 0 }: { readonly graceSeconds?: unknown },
): boolean {
  return id === "keys.rotate" && Number(graceSeconds) > 0;
}

/** Names the object that would change, as a list shows it. */
async function question({ access, io }: Connection, line: string, asks: string): Promise<string> {
  const [, noun, object, part, secret] = line.split("/");
  const { body } = await send<Partial<KeyView>>(access, `GET /${noun}/${object}`);
  const endsSecrets = part === "secrets" || part === "rotate";
  const ends = endsSecrets ? saysOfEnding(body.secrets ?? [], Date.now(), secret) : [];
  return `${table([body], LISTS[`${noun}.list`]?.columns ?? [], io)}\n${printable([...ends, asks].join("\n"))}`;
}
