/**
 * Checks a body, a query or a form against a schema. The 400 names every wrong field.
 *
 * Not hono's `validator`: a body whose Content-Type is not JSON, as curl sends it, is `{}` for it.
 */
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import type * as v from "valibot";
import { hasKey } from "../../auth/key.ts";
import { check, describeProblems, type ObjectSchema } from "../../check-schema.ts";
import type { AppEnv, Bindings } from "../../context.ts";
import { ApiError, invalidRequest, requestTimeout } from "../../errors.ts";
import { settingsOf } from "../../settings.ts";
import { decodeUtf8, isUtf8Address } from "../../text.ts";

/** The longest valid body takes some 10 kB. */
export const MAX_JSON_BODY_BYTES = 64 * 1024;

/** Throws an error if the input must not be looked at further. */
type Refuse = (input: unknown) => void;

/** A whole secret is of no use to the admin API. The message does not repeat it, as a message about a member could. */
export const refuseSecrets: Refuse = (input) => {
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

/** The body of a call. A search must not have a whole secret in it. */
export async function checkedBody<S extends ObjectSchema>(
  c: Context<AppEnv>,
  schema: S,
  isSearch: boolean,
): Promise<v.InferOutput<S>> {
  const body = parseJson(await receiveText(c, MAX_JSON_BODY_BYTES));
  if (isSearch) refuseSecrets(body);
  return checked(c.env, schema, body);
}

/** The query of a call. */
export function checkedQuery<S extends ObjectSchema>(c: Context<AppEnv>, schema: S): v.InferOutput<S> {
  if (!isUtf8Address(c.req.url)) throw invalidRequest("The address is not valid UTF-8.");
  const query = { ...c.req.query() };
  refuseSecrets(query);
  return checked(c.env, schema, query);
}

/** The whole body. Only reading can fail here, and reading fails if the client's connection is lost. */
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

/** Whatever is sent, by the API or by a form. Throws the 400 that names every wrong field. */
export function checked<S extends ObjectSchema>(env: Bindings, schema: S, input: unknown): v.InferOutput<S> {
  refuseAdminToken(input, env);
  const result = check(schema, input);
  if (result.ok) return result.output;
  const [first] = result.problems;
  throw invalidRequest(
    first?.member === null ? `The body ${first.reason}.` : describeProblems(result.problems),
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
