/**
 * A call of the operator is one declaration. The route, the checks of the request, the reference and the command come from it. Calls are
 * listed in `calls.ts`, served by `serve.ts`, and described by src/tools/admin-reference.ts.
 */
import type * as v from "valibot";
import type { ObjectSchema } from "../check-schema.ts";
import type { Author, Bindings } from "../context.ts";
import type { CsvTable } from "./http/csv.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type Input<Body, Query> = {
  readonly env: Bindings;
  /** Who calls. `at` is the time at which the body had arrived: what a change sets, ends or logs counts from there. */
  readonly author: Author;
  /** The key, plan or order that the path names. */
  readonly id: string;
  /** What the path names second: a secret of the key. */
  readonly partId: string;
  readonly body: Body;
  readonly query: Query;
  /** The body of an `upload`, as it came. */
  readonly text: string;
  /** The version in `If-Match`; undefined: any. */
  readonly expected: number | undefined;
  /** This service's, as in `https://api.example.com`. */
  readonly origin: string;
};

/** JSON text that SQLite wrote, with all digits of its integers. `version` becomes the `ETag`. */
export class JsonText {
  readonly text: string;
  readonly version: number | undefined;
  constructor(text: string, version?: number) {
    this.text = text;
    this.version = version;
  }
}

/** An answer is only read. */
export type Shown<T> = T extends readonly (infer Item)[]
  ? readonly Shown<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Shown<T[Name]> }
    : T;

/** Without `body` or `query`, the call takes none. */
export type Call<
  Body extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Answer extends v.GenericSchema = v.GenericSchema,
  Given = Shown<v.InferOutput<Answer>> | JsonText,
> = {
  /** As the audit log calls the change; the id of the operation in the reference. Its first part is the group. */
  readonly id: string;
  readonly route: `${Method} /${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  /** An empty body stands for `{}`. */
  readonly body?: Body;
  /** A body that `run` reads from `text`. The schema is for the reference. */
  readonly upload?: { readonly maxBytes: number; readonly schema: v.GenericSchema };
  /** If the answer has a `version`, it is the `ETag`. */
  readonly answer: Answer;
  readonly example: { readonly body?: unknown; readonly answer: v.InferInput<Answer> };
  /** The answer is a 201 with the address of what was created. */
  readonly creates?: true;
  /** The object is gone: the answer has no `ETag`. */
  readonly removes?: true;
  /** What a person has to agree to before the command makes the call. */
  readonly asks?: string;
  /** What the change would do, in sentences: forms show them first. Throws as `run` does. */
  preview?(input: Input<v.InferOutput<Body>, v.InferOutput<Query>>): Promise<readonly string[]>;
  /** When the answer is 409. */
  readonly conflict?: string;
  run(input: Input<v.InferOutput<Body>, v.InferOutput<Query>>): Promise<Given>;
  /** The rows of what `run` gave, for `format=csv`. */
  table?(given: NoInfer<Given>): CsvTable;
};

/** Checks the declaration's types against each other. A page gets the type of `run`, which may say more. */
export function call<
  Body extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Answer extends v.GenericSchema = v.GenericSchema,
  Given extends Shown<v.InferOutput<Answer>> | JsonText = Shown<v.InferOutput<Answer>> | JsonText,
>(declaration: Call<Body, Query, Answer, Given>): Call<Body, Query, Answer, Given> {
  return declaration;
}

/** The path has hono's form, as in `/keys/:id`. */
export function routeOf({ route }: Pick<Call, "route">): { readonly method: string; readonly path: string } {
  const [method = "", path = ""] = route.split(" ");
  return { method, path };
}

export function onlyReads({ route }: Pick<Call, "route">): boolean {
  return route.startsWith("GET ");
}

/** The parameter with the place of a page. */
export function cursorOf({ query }: Pick<Call, "query">): "after" | "before" {
  return query !== undefined && Object.hasOwn(query.entries, "before") ? "before" : "after";
}

/** Whether the answer has an `ETag`. */
export function hasEtag({ answer, removes }: Pick<Call, "answer" | "removes">): boolean {
  return removes !== true && "entries" in answer && Object.hasOwn(Object(answer.entries), "version");
}

/** Whether the call changes an object that has a version, and so takes `If-Match`. */
export function isConditional(call: Pick<Call, "route" | "answer" | "removes" | "creates">): boolean {
  return !onlyReads(call) && (call.removes === true || (hasEtag(call) && call.creates !== true));
}
