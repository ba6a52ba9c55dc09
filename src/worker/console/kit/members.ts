/** Reads from a schema how a form shows and sends the members of a body or query. */
import type { ObjectSchema } from "../../text/check-schema.ts";
import { formatNumber } from "../../text/format.ts";

/** The texts of the fields of a form, by their names. */
export type FormTexts = Readonly<Record<string, string>>;

type Part = {
  readonly type: string;
  readonly pipe?: readonly Part[];
  readonly wrapped?: Part;
  readonly default?: unknown;
  readonly options?: readonly string[];
  readonly metadata?: { readonly kind?: string };
};

function partsOf(part: Part): readonly Part[] {
  if (part.pipe !== undefined) return part.pipe.flatMap(partsOf);
  return part.wrapped === undefined ? [part] : [part, ...partsOf(part.wrapped)];
}

export function memberOf(schema: ObjectSchema, name: string) {
  // Each part is an object with a type. A member that its type does not have is undefined.
  const parts = partsOf(schema.entries[name] as unknown as Part);
  const last = (type: string) => parts.findLast((part) => part.type === type);
  const base = parts.find(({ type }) => /^(picklist|boolean|number|string)$/.test(type))?.type;
  const kind = last("metadata")?.metadata?.kind ?? base ?? "string";
  return {
    base,
    kind,
    isNullable: last("nullable") !== undefined,
    hasDefault: last("optional")?.default !== undefined,
    options: last("picklist")?.options,
  };
}

/** Returns the members that were typed, for the schema. An empty field stands for null. */
export function membersIn(schema: ObjectSchema, typed: FormTexts): Record<string, unknown> {
  const names = Object.keys(schema.entries).filter((name) => typed[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, sentOf(schema, name, typed)]));
}

function sentOf(schema: ObjectSchema, name: string, typed: FormTexts): unknown {
  const text = typed[name] ?? "";
  const { base, kind, isNullable } = memberOf(schema, name);
  const isEmpty = text.trim() === "";
  if (base === "boolean") return isEmpty ? null : text === "true";
  if (base === "number") return isEmpty ? null : numberIn(text, Number(typed[`${name}.unit`] ?? 1));
  if (isEmpty && isNullable) return null;
  if (kind === "numbers")
    return text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map((each) => numberIn(each, 1));
  return kind === "time" ? timeIn(text.trim()) : text;
}

/** A typed time has no zone, as all times of the console are in UTC. The schema refuses other texts. */
function timeIn(text: string): string {
  const [, day, minute = "00:00", second = ":00"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?)?$/.exec(text) ?? [];
  return day === undefined ? text : `${day}T${minute}${second}Z`;
}

/** A text that is no number stays text, which the schema refuses. */
function numberIn(text: string, unit: number): number | string {
  const digits = text.trim().replaceAll(",", "");
  return /^-?\d+$/.test(digits) ? Number(digits) * unit : digits;
}

/** Returns the texts that the fields of the members show. */
export function textsOf(schema: ObjectSchema, members: Readonly<Record<string, unknown>>): FormTexts {
  const shown = Object.keys(schema.entries).filter((name) => members[name] !== undefined);
  return Object.fromEntries(
    shown.map((name) => {
      const value = members[name] ?? "";
      const { kind } = memberOf(schema, name);
      const text =
        kind === "number" && typeof value === "number"
          ? formatNumber(value)
          : [value].flat().map(String).join(", ");
      const isTime = kind === "time";
      const [, day, time] = (isTime && /^([\d-]+)T(\d\d:\d\d(?::(?!00)\d\d)?)/.exec(text)) || [];
      return [name, day === undefined ? text : `${day} ${time}`];
    }),
  );
}
