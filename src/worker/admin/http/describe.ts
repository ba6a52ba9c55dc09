/**
 * What the reference of the admin API says of a route beyond the schemas that the route checks. Each resource has its descriptions in
 * `reference.ts`, which the Worker does not load: src/tools/admin-reference.ts makes the document when the project is built.
 */
import type * as v from "valibot";
import type { ObjectSchema } from "../../check-schema.ts";

export type Description = {
  /** As the audit log calls the change, if it is one. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly status?: 201;
  readonly answer: v.GenericSchema;
  readonly example: unknown;
  /** Of the body. `schema` only if the route checks the body otherwise than by `jsonBody`. */
  readonly body?: { readonly example: unknown; readonly schema?: v.GenericSchema };
  /** Whether the answer has an `ETag`. */
  readonly etag?: true;
  /** When the answer is 409. */
  readonly conflict?: string;
  /** Whether `format=csv` is answered with a CSV. */
  readonly csv?: true;
};

/** By method and path, as in `PATCH /keys/:id`. */
export type Reference = Readonly<Record<string, Description>>;

/** The example is compiled against the answer's schema. */
export function describe<Answer extends ObjectSchema>(
  description: Omit<Description, "answer" | "example"> & {
    readonly answer: Answer;
    readonly example: v.InferInput<Answer>;
  },
): Description {
  return description;
}
