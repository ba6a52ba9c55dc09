/**
 * Middleware that checks a body or query against a schema. The 400 names every wrong field.
 *
 * Not hono's `validator`: a body whose Content-Type is not JSON, as curl sends it, is `{}` for it.
 */
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type * as v from "valibot";
import { hasKey } from "../../auth/key.ts";
import { check, describeProblems, type ObjectSchema } from "../../check-schema.ts";
import type { AppEnv, Bindings } from "../../context.ts";
import { ApiError, invalidRequest, requestTimeout } from "../../errors.ts";
import { settingsOf } from "../../settings.ts";
import { nowSeconds } from "../../time.ts";

/** The longest valid body takes some 10 kB. */
export const MAX_JSON_BODY_BYTES = 64 * 1024;

type Checked<Target extends "json" | "query", S extends ObjectSchema> = MiddlewareHandler<
  AppEnv,
  string,
  { in: { [K in Target]: v.InferInput<S> }; out: { [K in Target]: v.InferOutput<S> } }
>;

/** Marks a handler with what it checks, from which the reference is made. */
export const CHECKS = Symbol("checks");
export type Checks = { readonly target: "json" | "query"; readonly schema: ObjectSchema };

/** Throws an error if the input must not be looked at further. */
type Refusal = (input: unknown) => void;

/** A whole secret is of no use to the admin API. The message does not repeat it, as a message about a member could. */
export const refuseSecrets: Refusal = (input) => {
  if (!hasKey(JSON.stringify(input))) return;
  throw invalidRequest(
    "A secret must not be sent. Find its key by the secret's SHA-256, in lower-case hex, as hash.",
  );
};

/** Names, notes and reasons are stored and shown in clear. */
export function refuseAdminToken(input: unknown, env: Bindings): void {
  const json = JSON.stringify(input);
  const inJson = settingsOf(env).tokens.map(({ secret }) => JSON.stringify(secret).slice(1, -1));
  if (!inJson.some((token) => json.includes(token))) return;
  throw invalidRequest("The admin token must not be in a body, a query or a name.");
}

/** An empty body stands for `{}`. */
export function jsonBody<S extends ObjectSchema>(schema: S, refuse?: Refusal): Checked<"json", S> {
  const handler: Checked<"json", S> = async (c, next) => {
    const body = parseJson(await receiveText(c, MAX_JSON_BODY_BYTES));
    refuse?.(body);
    refuseAdminToken(body, c.env);
    c.req.addValidatedData("json", accept(schema, body));
    await next();
  };
  return Object.assign(handler, { [CHECKS]: { target: "json", schema } satisfies Checks });
}

/**
 * The whole body. A change begins when it has arrived: what the change sets, ends or logs counts from there. Nothing but
 * reading can fail here, and reading fails if the client's connection is lost.
 */
export async function receiveText(c: Context<AppEnv>, maxBytes: number): Promise<string> {
  const limit = bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new ApiError("content_too_large", `The body must have at most ${maxBytes} bytes.`);
    },
  });
  let text = "";
  try {
    await limit(c, async () => {
      text = await c.req.text();
    });
  } catch (thrown) {
    if (thrown instanceof ApiError) throw thrown;
    throw requestTimeout("The upload of the body broke off. Nothing was changed.");
  }
  c.set("author", { ...c.var.author, at: nowSeconds() });
  return text;
}

export function queryOf<S extends ObjectSchema>(schema: S): Checked<"query", S> {
  const handler: Checked<"query", S> = async (c, next) => {
    const query = { ...c.req.query() };
    refuseSecrets(query);
    refuseAdminToken(query, c.env);
    c.req.addValidatedData("query", accept(schema, query));
    await next();
  };
  return Object.assign(handler, { [CHECKS]: { target: "query", schema } satisfies Checks });
}

function accept<S extends ObjectSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const checked = check(schema, input);
  if (checked.ok) return checked.output;
  const [first] = checked.problems;
  throw invalidRequest(
    first?.member === null ? `The body ${first.reason}.` : describeProblems(checked.problems),
  );
}

function parseJson(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest("The body is not valid JSON.");
  }
}
