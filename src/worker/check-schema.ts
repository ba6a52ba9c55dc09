/** Checks untrusted values. Problems are for people: `name: is required; plan: must be one of …`. Pure. */
import * as v from "valibot";

export type ObjectSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

/** The member's; null: the whole value's. */
export type Problem = { readonly member: string | null; readonly reason: string };

export type Checked<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function check<S extends ObjectSchema>(schema: S, input: unknown): Checked<v.InferOutput<S>> {
  if (!isRecord(input)) return { ok: false, problems: [{ member: null, reason: "is not a JSON object" }] };
  const { success, output, issues } = v.safeParse(schema, input, { abortPipeEarly: true });
  return success ? { ok: true, output } : { ok: false, problems: issues.map(problemOf) };
}

export function describeProblems(problems: readonly Problem[]): string {
  return problems.map(({ member, reason }) => (member === null ? reason : `${member}: ${reason}`)).join("; ");
}

/** valibot takes arrays and instances of classes for objects. */
function isRecord(value: unknown): boolean {
  return value !== null && Object.getPrototypeOf(Object(value)) === Object.prototype;
}

/** valibot names the first unknown field. Its name comes from outside. */
function problemOf({ type, expected, path, message }: v.BaseIssue<unknown>): Problem {
  const name = String(path?.[0]?.key);
  if (type !== "strict_object") return { member: name, reason: message };
  if (expected !== "never") return { member: name, reason: "is required" };
  const printable = name.slice(0, 60).replace(/[^\x20-\x7e]/g, "?");
  return { member: printable, reason: "is not a known field" };
}
