/**
 * One declaration of a call makes its route, the checks of the request, the reference and the command.
 * `calls.ts` lists the calls, `serve.ts` serves them, and src/tools/admin-reference.ts describes them.
 */
import type * as v from "valibot";
import type { Author, Bindings } from "../context.ts";
import type { ObjectSchema } from "../text/check-schema.ts";
import type { CsvTable } from "./http/csv.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type Input<Body, Query> = {
  readonly env: Bindings;
  /** `at` is when the body had arrived: the change counts times from there. */
  readonly author: Author;
  /** The key, plan or order that the path names. */
  readonly id: string;
  /** The secret of the key, if the path names one. */
  readonly partId: string;
  readonly body: Body;
  readonly query: Query;
  /** The body of an `upload`, unchanged. */
  readonly text: string;
  /** The version in `If-Match`. Undefined: any version. */
  readonly expected: number | undefined;
  /** The `Accept` of the request, or nothing. */
  readonly accept: string;
  /** The origin of this service, as in `https://api.example.com`. */
  readonly origin: string;
};

/** Text that is sent as it is. */
export class Rendered {
  readonly text: string;
  readonly media: string;
  constructor(text: string, media = "application/json") {
    this.text = text;
    this.media = media;
  }
}

/** Makes a type readonly at every depth: answers are only read. */
export type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: ReadonlyDeep<T[Name]> }
    : T;

/** A call without `body` or `query` takes none. */
export type Call<
  Body extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Answer extends v.GenericSchema = v.GenericSchema,
  Given = ReadonlyDeep<v.InferOutput<Answer>> | Rendered,
> = {
  /** Names the change in the audit log and the operation in the reference. The first part is the group. */
  readonly id: string;
  readonly route: `${Method} /${string}`;
  readonly summary: string;
  readonly description: string;
  readonly query?: Query;
  /** An empty body stands for `{}`. */
  readonly body?: Body;
  /** `run` reads this body from `text`. The schema is for the reference. */
  readonly upload?: { readonly maxBytes: number; readonly schema: v.GenericSchema };
  /** A `version` in the answer becomes the `ETag`. */
  readonly answer: Answer;
  /** The media types of an answer that is no JSON. Its text is not for people, so no command makes the call. */
  readonly media?: readonly string[];
  /** An example of the body, in the reference and in the help of the command. */
  readonly example?: v.InferInput<Body> | readonly object[];
  /** The answer is a 201 with the address of what was created. */
  readonly creates?: true;
  /** The answer has no `ETag`, because the object is gone. */
  readonly removes?: true;
  /** The command asks a person to agree to this sentence before it makes the call. */
  readonly asks?: string;
  /** Returns sentences that say what the change would do. Forms show them first. None: there is nothing to ask. Throws as `run` does. */
  preview?(input: Input<v.InferOutput<Body>, v.InferOutput<Query>>): Promise<readonly string[]>;
  /** Says when the answer is a 409. */
  readonly conflict?: string;
  run(input: Input<v.InferOutput<Body>, v.InferOutput<Query>>): Promise<Given>;
  /** Returns the rows for `format=csv`. */
  table?(given: NoInfer<Given>): CsvTable;
};

/** Checks the types of a declaration. A page gets the type of `run`, which may say more than the answer. */
export function call<
  Body extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Answer extends v.GenericSchema = v.GenericSchema,
  Given extends ReadonlyDeep<v.InferOutput<Answer>> | Rendered =
    | ReadonlyDeep<v.InferOutput<Answer>>
    | Rendered,
>(declaration: Call<Body, Query, Answer, Given>): Call<Body, Query, Answer, Given> {
  return declaration;
}

/** Returns the path in hono's form, as in `/keys/:id`. */
export function routeOf({ route }: Pick<Call, "route">): { readonly method: string; readonly path: string } {
  const [method = "", path = ""] = route.split(" ");
  return { method, path };
}

export function onlyReads({ route }: Pick<Call, "route">): boolean {
  return route.startsWith("GET ");
}

/** Tells whether the answer has an `ETag`. */
export function hasEtag({ answer, removes }: Pick<Call, "answer" | "removes">): boolean {
  return removes !== true && "entries" in answer && Object.hasOwn(Object(answer.entries), "version");
}

/** Tells whether the call changes an object that has a version, and so takes `If-Match`. */
export function isConditional(call: Pick<Call, "route" | "answer" | "removes" | "creates">): boolean {
  return !onlyReads(call) && (call.removes === true || (hasEtag(call) && call.creates !== true));
}
