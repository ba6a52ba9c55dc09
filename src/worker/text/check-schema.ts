/** Checks untrusted values. Problems are for people: `name: is required; plan: must be one of …`. */
import * as v from "valibot";
import { repeated } from "./text.ts";

// valibot's own messages repeat the value, of any length, where a schema has no message.
v.setGlobalMessage("has a wrong type");

export type ObjectSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

/** What is wrong with a member, or with the whole value if `member` is null. */
export type Problem = { readonly member: string | null; readonly reason: string };

export type Checked<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function check<S extends ObjectSchema>(schema: S, input: unknown): Checked<v.InferOutput<S>> {
  if (!isRecord(input)) return { ok: false, problems: [{ member: null, reason: "is not a JSON object" }] };
  const { success, output, issues } = v.safeParse(schema, input, { abortPipeEarly: true });
  return success ? { ok: true, output } : { ok: false, problems: firstOfEach(issues.map(problemOf)) };
}

/** A list of a thousand wrong elements is one problem of its member. */
function firstOfEach(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ member }, i) => problems.findIndex((each) => each.member === member) === i);
}

export function describeProblems(problems: readonly Problem[]): string {
  return problems.map(({ member, reason }) => (member === null ? reason : `${member}: ${reason}`)).join("; ");
}

/** For valibot, arrays and instances of classes are objects, too. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && Object.getPrototypeOf(Object(value)) === Object.prototype;
}

const MAX_NAME_CHARS = 60;

/** valibot names the first unknown field. The field's name comes from the client. */
function problemOf({ type, expected, path, message }: v.BaseIssue<unknown>): Problem {
  const name = String(path?.[0]?.key);
  if (type !== "strict_object" || path?.[1] !== undefined) return { member: name, reason: message };
  if (expected !== "never") return { member: name, reason: "is required" };
  return { member: repeated(name, MAX_NAME_CHARS), reason: "is not a known field" };
}
