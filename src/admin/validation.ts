/** Bodies and queries are checked against a schema; a refusal names every field that is wrong. */
import type { MiddlewareHandler } from "hono";
import * as v from "valibot";
import { ApiError } from "../errors.ts";
import type { AdminEnv } from "./require-admin.ts";

type Checked<Target extends "json" | "query", S extends v.GenericSchema> = MiddlewareHandler<
  AdminEnv,
  string,
  { in: { [K in Target]: v.InferInput<S> }; out: { [K in Target]: v.InferOutput<S> } }
>;

/** An empty body stands for `{}`. */
export function jsonBody<S extends v.GenericSchema<unknown, object>>(schema: S): Checked<"json", S> {
  return async (c, next) => {
    c.req.addValidatedData("json", check(schema, parseJson(await c.req.text())));
    await next();
  };
}

export function queryOf<S extends v.GenericSchema<unknown, object>>(schema: S): Checked<"query", S> {
  return async (c, next) => {
    c.req.addValidatedData("query", check(schema, c.req.query()));
    await next();
  };
}

export function invalid(message: string): ApiError {
  return new ApiError("invalid_request", message);
}

function check<S extends v.GenericSchema<unknown, object>>(schema: S, input: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  throw invalid(result.issues.map(describe).join("; "));
}

function describe(issue: v.BaseIssue<unknown>): string {
  const field = v.getDotPath(issue);
  if (issue.type === "strict_object" && issue.expected === "never") return `${field}: is not a known field`;
  if (issue.type === "strict_object" && issue.received === "undefined") return `${field}: is required`;
  return field === null ? issue.message : `${field}: ${issue.message}`;
}

function parseJson(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("The body is not valid JSON.");
  }
}
