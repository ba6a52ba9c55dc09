/** Each CSV has the members of its rows under the names that the reference has, and no other columns. */
import { describe, it } from "vitest";
import { adminReference } from "../../../src/tools/admin-reference.ts";
import { type Call, Rendered, routeOf } from "../../../src/worker/admin/call.ts";
import { CALLS } from "../../../src/worker/admin/calls.ts";
import { USAGE_ROWS } from "../../../src/worker/admin/usage/schema.ts";
import { USAGE_PERIODS } from "../../../src/worker/db/values.ts";

type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
};
type Document = {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<
    Record<string, { get: { responses: { 200: { content: { "application/json": { schema: Schema } } } } } }>
  >;
};

const document = adminReference() as unknown as Document; // the document of OpenAPI 3.1 that the build writes

/** The schemas that a value can have, without null. */
function resolved(schema: Schema): readonly Schema[] {
  if (schema.$ref) return resolved(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  return (schema.anyOf?.flatMap(resolved) ?? [schema]).filter(({ type }) => type !== "null");
}

/** The paths of the members of an object. A list of objects has the paths of its members. */
function pathsIn(schema: Schema, path = ""): string[] {
  const { properties } = schema.items ? (resolved(schema.items)[0] ?? {}) : schema;
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([name, member]) =>
    resolved(member).flatMap((each) => pathsIn(each, path === "" ? name : `${path}.${name}`)),
  );
}

/** The members of a row, for each kind of row that the answer can have. */
function rowsIn(call: Call): string[][] {
  const { path } = routeOf(call);
  const operation = document.paths[`/admin${path.replaceAll(/:(\w+)/g, "{$1}")}`]?.get;
  const { properties = {} } = operation?.responses[200].content["application/json"].schema ?? {};
  const list = Object.values(properties).find(({ type }) => type === "array");
  return resolved(list?.items ?? {}).map((row) => pathsIn(row));
}

function columnsOf({ id, table }: Call, by: string): readonly string[] {
  const answer = { by, from: "2026-11-01T00:00:00Z", to: "2026-12-01T00:00:00Z", customer: { name: "" } };
  // Answers with orders are texts, which keep all digits.
  return table?.(id.startsWith("orders.") ? new Rendered(JSON.stringify(answer)) : answer).columns ?? [];
}

/** The rows of usage depend on `by`. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  "keys.usage": USAGE_PERIODS,
  "usage.list": Object.keys(USAGE_ROWS),
};
const LISTS = CALLS.filter(({ table }) => table !== undefined);
/** The lists in a row, but for the hints of secrets. */
const LEFT_OUT = /^(days|refusedMinutes|secrets)\.(?!hint)/;

describe("the CSV of", () => {
  it.for(LISTS.map((call) => [call.id, call] as const))("%s", ([id, call], { expect }) => {
    const kinds = KINDS[id] ?? [""];
    const rows = rowsIn(call).map((members) => members.filter((each) => !LEFT_OUT.test(each)));
    expect(rows.flat()).not.toEqual([]);
    for (const by of kinds) expect(rows).toContainEqual(columnsOf(call, by));
  });
});
