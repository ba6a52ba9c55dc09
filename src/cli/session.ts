/** A run of the command line: the access to the service, and functions that several commands use. */
import type { Command } from "commander";
import { isObjectId } from "../worker/admin/audit/schema.ts";
import type { KeyView } from "../worker/admin/keys/schema.ts";
import { isCustomerId, isKeyId } from "../worker/key/key.ts";
import { describeProblems } from "../worker/text/check-schema.ts";
import { planName } from "../worker/text/format.ts";
import type { Access } from "./access.ts";
import { type Answer, send } from "./api.ts";
import { CliError, type CliIo } from "./io.ts";
import { describe, printable, printableJson } from "./output.ts";

export type Connection = {
  readonly io: CliIo;
  /** Throws if there is no address or token, so a command that sends nothing must not read this member. */
  readonly access: Access;
  /** Prints answers exactly as they came. */
  readonly json: boolean;
};

/** Prints the answer as it came with `--json`, or else a sentence or the members. `key` and `link` are secrets. */
export function show({ io, json }: Connection, { text, body }: Answer<object>, says?: () => string): void {
  const { key, link, ...members }: { key?: unknown; link?: unknown } = body;
  const secret =
    key === undefined && link === undefined
      ? ""
      : `\n\nThe ${key === undefined ? "link" : "key"}, shown only now:\n\n  ${key ?? link}`;
  const shown = says === undefined ? describe(members) : says();
  if (typeof shown !== "string") throw new TypeError("the answer has no sentence");
  io.stdout.write(`${json ? printableJson(text) : printable(shown + secret)}\n`);
}

/**
 * Returns a key's id. `ref` is the id or its beginning, the key's name, or the end of a secret. `as` is what the
 * operator calls it.
 */
export async function findKeyId({ access }: Connection, ref: string, as = "KEY"): Promise<string> {
  if (isKeyId(ref)) return ref;
  const found = send<{ keys: KeyView[] }>(access, "GET /keys", { query: { ref, limit: 10 } });
  const { body } = await found.catch((thrown) => {
    throw renamed(thrown, () => as);
  });
  const [key, ...others] = body.keys;
  if (key !== undefined && others.length === 0) return key.id;
  if (key !== undefined)
    throw new CliError(`Several keys fit ${ref}:${linesOf(body.keys)}`, { code: "several_keys" });
  // No command takes a part of a name: it would change another key when a second one has that part.
  const message = `No key has this id, name or end: ${ref}. For parts of names: store-orders find TEXT`;
  throw new CliError(message, { code: "not_found" });
}

/** Returns a customer's id. The text is the id, or the name in any case. */
export async function customerId({ access }: Connection, text: string): Promise<string> {
  if (isCustomerId(text)) return text;
  const query = { customer: text, limit: 1 };
  const { body } = await send<{ customers: { id: string }[] }>(access, "GET /customers", { query });
  return body.customers[0]?.id ?? text;
}

function linesOf(keys: readonly KeyView[]): string {
  return keys
    .map(({ id, name, plan, status }) => `\n  ${id}  ${name} (${planName(plan)}, ${status})`)
    .join("");
}

/** The service names its own members, and the operator typed something else. */
export function renamed(thrown: unknown, nameOf: (member: string) => string): unknown {
  if (!(thrown instanceof CliError) || thrown.problems.length === 0) return thrown;
  const problems = thrown.problems.map(({ member, reason }) => ({
    member: member && nameOf(member),
    reason,
  }));
  return Object.assign(thrown, { problems, message: describeProblems(problems) });
}

/** Returns the id of a key, a plan or an order. `orders` stands for loads. */
export async function objectId(session: Connection, object: string): Promise<string> {
  return isObjectId(object) ? object : findKeyId(session, object, "--object");
}

/** Returns the group of a noun's commands. */
export function groupOf(program: Command, noun: string, does = ""): Command {
  const group = program.commands.find((command) => command.name() === noun);
  return group ?? program.command(noun).description(does);
}

/** Adds a command. The list of commands shows the first line of `does`. The examples are command lines. */
export function addCommand(parent: Command, usage: string, does: string, ...examples: string[]): Command {
  return parent
    .command(usage)
    .summary(does.replace(/\.(\s.*|$)/s, ""))
    .description(does)
    .addHelpText("after", `\nExamples:${examples.map((example) => `\n  store-orders ${example}`).join("")}`);
}
