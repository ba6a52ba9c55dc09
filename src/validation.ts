/** Checking values from outside against a schema: every problem is named, each with the member it is about. Pure. */
import * as v from "valibot";

export const NOT_AN_OBJECT = "is not a JSON object";

export type Checked<Output> =
  | { readonly ok: true; readonly output: Output }
  /** For people: `name: is required; plan: must be one of …`. */
  | { readonly ok: false; readonly problems: string };

/** valibot's own `strictObject` names only the first of several unknown members. */
export function strictObject<Entries extends v.ObjectEntries>(
  entries: Entries,
): v.StrictObjectSchema<Entries, undefined> {
  const schema = v.objectWithRest(entries, v.never(UNKNOWN));
  // No value is a `never`, so that nothing but the entries gets through: the stricter type is true.
  return schema as unknown as v.StrictObjectSchema<Entries, undefined>;
}

export function check<S extends v.GenericSchema<unknown, object>>(
  schema: S,
  input: unknown,
): Checked<v.InferOutput<S>> {
  if (!isRecord(input)) return { ok: false, problems: NOT_AN_OBJECT };
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  if (result.success) return { ok: true, output: result.output };
  return { ok: false, problems: result.issues.map(describe).join("; ") };
}

const UNKNOWN = "is not a known field";

/** What a JSON object becomes: no array, and nothing with a class of its own. */
function isRecord(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describe(issue: v.BaseIssue<unknown>): string {
  const isMissing = issue.type === "object_with_rest" && issue.received === "undefined";
  return `${v.getDotPath(issue) ?? "it"}: ${isMissing ? "is required" : issue.message}`;
}
