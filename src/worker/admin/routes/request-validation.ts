/** Bodies and queries are checked against a schema; a refusal names every field that is wrong. */
import type { MiddlewareHandler } from "hono";
import type * as v from "valibot";
import { check, NOT_AN_OBJECT, type Schema } from "../../check-schema.ts";
import type { AppEnv } from "../../context.ts";
import { ApiError } from "../../errors.ts";

type Checked<Target extends "json" | "query", S extends Schema> = MiddlewareHandler<
  AppEnv,
  string,
  { in: { [K in Target]: v.InferInput<S> }; out: { [K in Target]: v.InferOutput<S> } }
>;

/** An empty body stands for `{}`. */
export function jsonBody<S extends Schema>(schema: S): Checked<"json", S> {
  return async (c, next) => {
    c.req.addValidatedData("json", accept(schema, parseJson(await c.req.text())));
    await next();
  };
}

export function queryOf<S extends Schema>(schema: S): Checked<"query", S> {
  return async (c, next) => {
    c.req.addValidatedData("query", accept(schema, c.req.query()));
    await next();
  };
}

export function invalid(message: string): ApiError {
  return new ApiError("invalid_request", message);
}

function accept<S extends Schema>(schema: S, input: unknown): v.InferOutput<S> {
  const checked = check(schema, input);
  if (checked.ok) return checked.output;
  throw invalid(checked.problems === NOT_AN_OBJECT ? `The body ${NOT_AN_OBJECT}.` : checked.problems);
}

function parseJson(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("The body is not valid JSON.");
  }
}
