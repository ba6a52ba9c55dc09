/**
 * Checks a body, a query or a form against a schema. The 400 names every wrong field.
 *
 * Hono's `validator` would read a body as `{}` if its Content-Type is not JSON, and curl sends such bodies.
 */
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import type * as v from "valibot";
import type { AppEnv, Bindings } from "../../context.ts";
import { hasKey } from "../../key/key.ts";
import { ApiError, invalidMembers, invalidRequest, requestTimeout } from "../../platform/errors.ts";
import { settingsOf } from "../../platform/settings.ts";
import { check, type ObjectSchema } from "../../text/check-schema.ts";
import { decodeUtf8, isUtf8Address } from "../../text/text.ts";

/** The longest valid body has some 10 kB. */
export const MAX_JSON_BODY_BYTES = 64 * 1024;

/** Names, notes and reasons are stored and shown in clear. */
export function refuseAdminToken(input: unknown, env: Bindings): void {
  const json = JSON.stringify(input);
  const inJson = settingsOf(env).tokens.map(({ secret }) => JSON.stringify(secret).slice(1, -1));
  if (!inJson.some((token) => json.includes(token))) return;
  throw invalidRequest("The admin token must not be in a body, a query or a name.");
}

/** Reads and checks the body of a call. */
export async function checkedBody<S extends ObjectSchema>(
  c: Context<AppEnv>,
  schema: S,
): Promise<v.InferOutput<S>> {
  return checked(c.env, schema, parseJson(await receiveText(c, MAX_JSON_BODY_BYTES)));
}

/** Checks the query of a call. */
export function checkedQuery<S extends ObjectSchema>(c: Context<AppEnv>, schema: S): v.InferOutput<S> {
  if (!isUtf8Address(c.req.url)) throw invalidRequest("The address is not valid UTF-8.");
  if (hasKey(JSON.stringify(c.req.queries())))
    throw invalidRequest("A secret must not be sent. The command `find` tells whose a secret is.");
  const query = checked(c.env, schema, { ...c.req.query() });
  // Hono takes the first value: with `?dry-run=false&dry-run`, an operator may mean the second one.
  const twice = Object.entries(c.req.queries()).find(([, values]) => values.length > 1);
  if (twice) throw invalidMembers({ member: twice[0], reason: "must have one value" });
  return query;
}

/** Reads the whole body. Reading fails if the connection of the client is lost. */
export async function receiveText(c: Context<AppEnv>, maxBytes: number): Promise<string> {
  const limit = bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new ApiError("content_too_large", `The body must have at most ${maxBytes} bytes.`);
    },
  });
  let bytes = new ArrayBuffer();
  try {
    await limit(c, async () => {
      bytes = await c.req.arrayBuffer();
    });
  } catch (thrown) {
    if (thrown instanceof ApiError) throw thrown;
    throw requestTimeout("The upload of the body broke off. Nothing was changed.");
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) throw invalidRequest("The body is not valid UTF-8.");
  return text;
}

/** Checks what the API or a form received. Throws the 400 that names every wrong field. */
export function checked<S extends ObjectSchema>(env: Bindings, schema: S, input: unknown): v.InferOutput<S> {
  refuseAdminToken(input, env);
  const result = check(schema, input);
  if (result.ok) {
    const { from, to }: { readonly from?: unknown; readonly to?: unknown } = Object(result.output);
    if (typeof from !== "number" || typeof to !== "number" || from < to) return result.output;
    throw invalidMembers({ member: "from", reason: "must be before to" });
  }
  const [first] = result.problems;
  if (first?.member === null) throw invalidRequest(`The body ${first.reason}.`);
  throw invalidMembers(...result.problems);
}

export function parseJson(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest("The body is not valid JSON.");
  }
}
