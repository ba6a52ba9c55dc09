/** Checks untrusted values against a schema. The problems are for people: `name: is required; plan: must be one of …`. Pure. */
import * as v from "valibot";

export const NOT_AN_OBJECT = "is not a JSON object";

export type ObjectSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

export type Checked<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly problems: string };

export function check<S extends ObjectSchema>(schema: S, input: unknown): Checked<v.InferOutput<S>> {
  if (!isRecord(input)) return { ok: false, problems: NOT_AN_OBJECT };
  const { success, output, issues } = v.safeParse(schema, input, { abortPipeEarly: true });
  return success ? { ok: true, output } : { ok: false, problems: issues.map(describe).join("; ") };
}

/** valibot takes arrays and instances of classes for objects. */
function isRecord(value: unknown): boolean {
  return value !== null && Object.getPrototypeOf(Object(value)) === Object.prototype;
}

/** Of unknown fields, valibot names the first. Its name comes from outside. */
function describe({ type, expected, path, message }: v.BaseIssue<unknown>): string {
  const name = String(path?.[0]?.key);
  if (type !== "strict_object") return `${name}: ${message}`;
  if (expected !== "never") return `${name}: is required`;
  return `${name.slice(0, 60).replace(/[^\x20-\x7e]/g, "?")}: is not a known field`;
}
