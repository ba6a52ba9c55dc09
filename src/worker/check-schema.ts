/** Checks untrusted values against a schema. Names every problem and the member that it is about. Pure. */
import * as v from "valibot";
import { unicodeEscape } from "./unicode-escape.ts";

export const NOT_AN_OBJECT = "is not a JSON object";

/** Further problems are only counted: a body can have any number of unknown members. */
export const MAX_PROBLEMS = 10;

/** A longer name is cut. It comes from outside, as do its characters. */
const MAX_NAME_CHARS = 60;

export type ObjectSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

export type Checked<Output> =
  | { readonly ok: true; readonly output: Output }
  /** For people: `name: is required; plan: must be one of …`. */
  | { readonly ok: false; readonly problems: string };

/** Unknown members are looked for here: valibot names only the first of them. */
export function check<S extends ObjectSchema>(schema: S, input: unknown): Checked<v.InferOutput<S>> {
  if (!isRecord(input)) return { ok: false, problems: NOT_AN_OBJECT };
  const isKnown = (member: string) => Object.hasOwn(schema.entries, member);
  const known = Object.fromEntries(Object.entries(input).filter(([member]) => isKnown(member)));
  const result = v.safeParse(schema, known, { abortPipeEarly: true });
  const problems = [
    ...(result.issues ?? []).map(describe),
    ...Object.keys(input)
      .filter((member) => !isKnown(member))
      .map((member) => `${nameOf(member)}: is not a known field`),
  ];
  if (result.success && problems.length === 0) return { ok: true, output: result.output };
  const further = problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : [];
  return { ok: false, problems: [...problems.slice(0, MAX_PROBLEMS), ...further].join("; ") };
}

/** A name as it is, or quoted: JSON, in ASCII, so that it contains no control or bidirectional character. */
function nameOf(member: string): string {
  if (/^[\w.-]+$/.test(member) && member.length <= MAX_NAME_CHARS) return member;
  const cut = member.length > MAX_NAME_CHARS ? `${member.slice(0, MAX_NAME_CHARS)}…` : member;
  return unicodeEscape(JSON.stringify(cut), /[^\x20-\x7e…]/g);
}

/** Whether the value is a plain object, as JSON.parse makes it: no array, and no instance of a class. */
function isRecord(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(issue: v.BaseIssue<unknown>): string {
  const isMissing = issue.type === "strict_object" && issue.received === "undefined";
  return `${v.getDotPath(issue) ?? "it"}: ${isMissing ? "is required" : issue.message}`;
}
