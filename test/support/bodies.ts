/** Bodies with every member that their schema has. */
import { memberOf } from "../../src/worker/console/kit/members.ts";
import type { ObjectSchema } from "../../src/worker/text/check-schema.ts";

/** A value that the member can have: another one for each `i`. */
export function memberValue(schema: ObjectSchema, name: string, i: number): unknown {
  const { base, kind, options } = memberOf(schema, name);
  if (options !== undefined) return options[i % options.length];
  if (base === "boolean") return i % 2 === 0;
  if (base === "number") return 1_000 + i;
  if (kind === "time") return `2999-01-01T00:00:${10 + (i % 50)}Z`;
  return kind === "email" ? `a${i}@b.example` : `${name} ${i}`;
}

export function bodyOf(schema: ObjectSchema, i: number): Record<string, unknown> {
  const { id: _, ...members } = schema.entries; // the service makes the id
  return Object.fromEntries(Object.keys(members).map((name) => [name, memberValue(schema, name, i)]));
}
