/** Serves the calls of the operator: one loop for all of them. */
import { type Context, Hono } from "hono";
import type * as v from "valibot";
import type { AppEnv } from "../context.ts";
import { invalidRequest } from "../platform/errors.ts";
import { logError } from "../platform/log.ts";
import { urlOf } from "../platform/request-url.ts";
import type { ObjectSchema } from "../text/check-schema.ts";
import { nowSeconds } from "../text/time.ts";
import { type Call, hasEtag, type Input, isConditional, onlyReads, Rendered, routeOf } from "./call.ts";
import { csvFile } from "./http/csv.ts";
import { ifMatch, toEtag } from "./http/if-match.ts";
import { checkedBody, checkedQuery, receiveText } from "./http/request-validation.ts";
import { requireWriter } from "./sign-in/require-admin.ts";

export function serve(calls: readonly Call[]): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  for (const call of calls) {
    const { method, path } = routeOf(call);
    app.on(method, path, async (c) => answerTo(c, call));
  }
  return app;
}

export async function answerTo(c: Context<AppEnv>, call: Call): Promise<Response> {
  refuseBeforeReading(c, call);
  const input = await received(c, call);
  if (call.table !== undefined && input.query.format === "csv") return fileOf(c, call, input);
  const answer = await call.run(input);
  if (answer instanceof Rendered) return c.body(answer.text, 200, { "Content-Type": answer.media });
  const headers = hasEtag(call) ? { ETag: toEtag(answer as { version: number }) } : {}; // the schema has the member
  if (call.creates !== true) return c.json(answer, 200, headers);
  const { id } = answer as { id: string }; // a created object has an id
  return c.json(answer, 201, { ...headers, Location: `/admin${routeOf(call).path}/${id}` });
}

/** D1 answers with all rows of a page at once, and a key has some 600 bytes. */
const ROWS_PER_QUERY = 5_000;

/** Answers with all pages of a list as one file. */
export async function fileOf<Query extends ObjectSchema, Given>(
  c: Context<AppEnv>,
  call: Call<ObjectSchema, Query, v.GenericSchema, Given>,
  { id = "", query }: { readonly id?: string; readonly query: v.InferOutput<Query> },
): Promise<Response> {
  const pageFrom = async (place: { readonly after?: string }) => {
    // A list takes these members, and `table` belongs to each call whose query has a format.
    const page = { ...query, ...place, limit: ROWS_PER_QUERY } as v.InferOutput<Query>;
    const answer = await call.run(inputOf(c, { id, query: page }));
    if (call.table === undefined) throw new Error(`${call.id} has no table`);
    return call.table(answer);
  };
  return csvFile(c, await pageFrom({}), (after) =>
    pageFrom({ after }).catch((thrown) => {
      logError("csv_failed", thrown, { requestId: c.var.requestId });
      throw thrown;
    }),
  );
}

/**
 * An operator who may only read gets the 403 before anything is read. A change that ignored a query or an
 * `If-Match` would be made against the operator's will.
 */
function refuseBeforeReading(c: Context<AppEnv>, call: Call): void {
  if (!onlyReads(call)) requireWriter(c.var);
  // Not parsed: with a `Host` that is not valid, the URL is not valid either.
  if (call.query === undefined && /\?./.test(c.req.url))
    throw invalidRequest("This call has no query parameters, and no dry run.");
  if (!onlyReads(call) && !isConditional(call) && ifMatch(c) !== undefined)
    throw invalidRequest("If-Match: this call changes nothing that has a version of its own");
}

type Received = Partial<Omit<Input<unknown, unknown>, "env" | "author" | "accept" | "origin">>;

/** Returns the input of a call. A change counts its times from now. */
export function inputOf<S extends Received>(c: Context<AppEnv>, sent: S) {
  const author = { ...c.var.author, at: nowSeconds() };
  const none = { id: "", partId: "", body: {}, query: {}, text: "", expected: undefined };
  const accept = c.req.header("Accept") ?? "";
  return { env: c.env, author, accept, origin: urlOf(c.req.raw).origin, ...none, ...sent };
}

async function received(
  c: Context<AppEnv>,
  call: Call,
): Promise<Input<Record<string, unknown>, Record<string, unknown>>> {
  const [id = "", partId = ""] = Object.values(c.req.param());
  const query = call.query === undefined ? {} : checkedQuery(c, call.query);
  const text = call.upload === undefined ? "" : await receiveText(c, call.upload.maxBytes);
  const body = call.body === undefined ? {} : await checkedBody(c, call.body);
  return inputOf(c, { id, partId, body, query, text, expected: ifMatch(c) });
}
