/** Reads the calls of the admin API from the OpenAPI document that the build makes. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "./io.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const DOCUMENT = join(ROOT, "dist", "admin-openapi.txt");

type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  /** The first schema is the value's schema. The second schema is null. */
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};
/** A member of a query or of a body. */
export type Member = ReturnType<typeof memberOf>;
type Parameter = {
  readonly in?: string;
  readonly name: string;
  readonly required?: true;
  readonly description?: string;
  readonly schema: Schema;
};
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly "x-asks"?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { schema: Schema; example: Record<string, unknown> } };
  };
};
type Document = {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

export type DocumentedCall = ReturnType<typeof callOf>;

/** Reads the document. If it is missing, builds it, which takes a second. */
export function readReference() {
  if (!existsSync(DOCUMENT)) build();
  const { tags, paths }: Document = JSON.parse(readFileSync(DOCUMENT, "utf8"));
  const calls = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => callOf(method, path, operation)),
  );
  return { nouns: new Map(tags.map(({ name, description }) => [name.toLowerCase(), description])), calls };
}

function build(): void {
  try {
    execFileSync(process.execPath, [join(ROOT, "src/tools/build-pages.ts")], { stdio: "pipe" });
  } catch {
    throw new CliError("dist/admin-openapi.txt is missing, and cannot be made: see npm run build.");
  }
}

/** `path` is the part after `/admin`. */
function callOf(method: string, path: string, operation: Operation) {
  const { operationId: id, summary, description, parameters, requestBody, "x-asks": asks } = operation;
  const { schema, example } = requestBody?.content["application/json"] ?? {};
  const { properties = {}, required = [] } = schema ?? {};
  const query = parameters
    .filter((each) => each.in === "query")
    .map((each) => memberOf(each.name, each.schema, each.required === true, each.description));
  const body = Object.entries(properties).map(([name, each]) =>
    memberOf(name, each, required.includes(name)),
  );
  return {
    ...{ id, summary, asks, query, body, example },
    does: [`${summary}.`, description ?? ""].join(" ").trim(),
    line: `${method.toUpperCase()} ${path.replace("/admin", "")}`,
  };
}

function memberOf(name: string, schema: Schema, isRequired: boolean, description = "") {
  const { type, enum: values = [], description: does = description } = schema.anyOf?.[0] ?? schema;
  const isNullable = schema.anyOf?.some((each) => each.type === "null") === true;
  const choices = type === "boolean" ? ["true", "false"] : values;
  // `?dry-run` is a switch of a query.
  const byDefault = values.includes("") ? false : schema.default;
  return { name, type, choices, does, isRequired, isNullable, byDefault };
}
