/** Makes the OpenAPI document of the admin API from its calls. */

import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { type Call, hasEtag, isConditional, onlyReads, routeOf } from "../worker/admin/call.ts";
import { CALLS, NAMED_SCHEMAS, TAGS } from "../worker/admin/calls.ts";
import { ERROR_STATUS, type ErrorCode } from "../worker/platform/error-codes.ts";
import { capital } from "../worker/text/format.ts";

type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** JSON.stringify leaves out members that are undefined. */
type JsonObject = { readonly [name: string]: Json | undefined };

export function adminReference(): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const call of CALLS) {
    const { method, path } = routeOf(call);
    const address = `/admin${path.replaceAll(/:(\w+)/g, "{$1}")}`;
    paths[address] = { ...paths[address], [method.toLowerCase()]: operationOf(call) };
  }
  return JSON.parse(JSON.stringify({ openapi: "3.1.0", ...DOCUMENTATION, paths }), forAllTools);
}

/** Leaves out what says nothing: some validators refuse `required: []`, and kubb makes `{}` of a null. */
function forAllTools(name: string, value: unknown): unknown {
  const isEmpty = name === "required" && Array.isArray(value) && value.length === 0;
  return isEmpty || (name === "default" && value === null) ? undefined : value;
}

const CONVERSION = {
  target: "draft-2020-12",
  errorMode: "ignore",
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  // Only the console's forms need the kind of a field. A pattern with \p or \u{…} needs the flag u, which tools
  // leave out: such a pattern is checked by the service only.
  overrideAction: ({ jsonSchema }) =>
    Object.fromEntries(
      Object.entries(jsonSchema).filter(
        ([name, value]) => name !== "kind" && !(name === "pattern" && /\\[pu]\{/i.test(String(value))),
      ),
    ),
} as const satisfies ConversionConfig;

function schemaOf(schema: v.GenericSchema, typeMode: "input" | "output"): JsonObject {
  const definitions = typeMode === "output" ? NAMED_SCHEMAS : {};
  const { $schema: _, $defs: __, ...json } = toJsonSchema(schema, { ...CONVERSION, typeMode, definitions });
  return JSON.parse(JSON.stringify(json));
}

/** Each member of the query is a parameter. OpenAPI puts a parameter's description beside its schema. */
function queryParametersOf({ query }: Call): JsonObject[] {
  if (query === undefined) return [];
  const { properties, required } = schemaOf(query, "input");
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  // The properties of an object's schema are schemas.
  return Object.entries(properties as Record<string, JsonObject>).map(
    ([name, { description, ...schema }]) => ({
      in: "query",
      name,
      schema,
      ...(isRequired(name) && { required: true }),
      ...(description !== undefined && { description }),
    }),
  );
}

function operationOf(call: Call): JsonObject {
  const { id, summary, description, answer, media = ["application/json"], creates, table, asks } = call;
  const { path } = routeOf(call);
  const isChange = !onlyReads(call);
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  const headers = [...(isConditional(call) ? ["IfMatch"] : []), ...(isChange ? ["Operator"] : [])];
  return {
    operationId: id,
    tags: [capital(id.split(".")[0] ?? "")],
    summary,
    description,
    ...(asks !== undefined && { "x-asks": asks }),
    parameters: [
      ...names.map((name) => ({ name, in: "path", required: true, schema: TEXT })),
      ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
      ...queryParametersOf(call),
    ],
    ...bodyOf(call),
    responses: {
      [creates ? 201 : 200]: {
        description: creates ? "Created" : "OK",
        headers: { ...REQUEST_ID, ...(hasEtag(call) && { ETag: { $ref: "#/components/headers/ETag" } }) },
        content: {
          ...Object.fromEntries(media.map((type) => [type, { schema: schemaOf(answer, "output") }])),
          ...(table && { "text/csv": { schema: TEXT } }),
        },
      },
      ...errorsOf(call, names.length > 0),
    },
  };
}

function bodyOf({ body, upload, example }: Call): JsonObject {
  const schema = body ?? upload?.schema;
  if (schema === undefined) return {};
  const content = {
    "application/json": { schema: schemaOf(schema, "input"), example: example as Json },
  };
  return { requestBody: { required: true, content } };
}

function errorsOf(call: Call, namesObject: boolean): JsonObject {
  const { body, upload, conflict } = call;
  const hasBody = body !== undefined || upload !== undefined;
  const statuses = [
    ...[400, 401, 403],
    ...(namesObject ? [404] : []),
    ...(hasBody ? [408, 413] : []),
    ...(isConditional(call) ? [412] : []),
    ...[429, 500, 503],
  ];
  return {
    ...Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    ...(conflict !== undefined && { 409: errorResponse(409, [["conflict", conflict]]) }),
  };
}

type Cause = readonly [code: string, when: string];

function errorResponse(status: number, causes: readonly Cause[], headers: JsonObject = {}): JsonObject {
  const examples = causes.map(([code, when]) => [code, { value: { code, message: when, status } }]);
  return {
    description: causes.map(([code, when]) => `\`${code}\`: ${when}`).join("\n\n"),
    headers: { ...REQUEST_ID, ...headers },
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

const TEXT = { type: "string" };
const RETRY_AFTER = { "Retry-After": { $ref: "#/components/headers/RetryAfter" } };
const REQUEST_ID = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };

const CAUSES: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_request:
    "The body, the query or `If-Match` is not valid. `problems` and the message name each wrong member.",
  unauthorized: "The admin token or the identity of Cloudflare Access is missing or not valid.",
  https_required: "The request came over plain HTTP. Replace the token.",
  other_site: "A page of another site sent the request.",
  read_only: "This token or this person may read, and change nothing.",
  not_found: "The object does not exist.",
  request_timeout: "The body did not arrive completely. Nothing was changed.",
  changed_meanwhile: "The object has another version than `If-Match`. `current` is the object as it is now.",
  content_too_large: "The body is too large.",
  rate_limit_exceeded: "Too many failed sign-ins from this address.",
  internal_error: "An error in the service.",
  service_unavailable:
    "The database cannot be reached. If this was a change, it may have been made: look, then try again.",
};
const ERROR_HEADERS: Readonly<Record<number, JsonObject>> = {
  401: { "WWW-Authenticate": { $ref: "#/components/headers/Authenticate" } },
  412: { ETag: { $ref: "#/components/headers/ETag" } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

const DOCUMENTATION = {
  info: {
    title: "Store Orders: admin API",
    version: "1.0.0",
    description:
      "Keys, bans, usage, plans, orders and the audit log. Lists are pages: send `next` of a page to get the page after it. All times are in UTC.\n\nA key, a plan and an order have a version, which is the `ETag` of an answer. A change with `If-Match` is made only if the version is still the same.",
    contact: { name: "The operator of this instance", url: "{{origin}}/docs" },
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: "{{origin}}" }],
  security: [{ adminToken: [] }, { access: [] }],
  tags: Object.entries(TAGS).map(([name, description]) => ({ name: capital(name), description })),
  components: {
    securitySchemes: {
      adminToken: {
        type: "http",
        scheme: "bearer",
        description: "`ADMIN_TOKEN`, or `ADMIN_READ_TOKEN` to read.",
      },
      access: {
        type: "apiKey",
        in: "header",
        name: "Cf-Access-Jwt-Assertion",
        description: "Set by Cloudflare Access, if it protects `/admin`.",
      },
    },
    parameters: {
      IfMatch: {
        name: "If-Match",
        in: "header",
        description:
          "The `ETag` of the object that you have seen. Without it the change applies to what is there.",
        schema: TEXT,
        example: '"3"',
      },
      Operator: {
        name: "X-Operator",
        in: "header",
        description:
          "Your name, for the audit log, if you use the admin token: in UTF-8, or as in `UTF-8''Zo%C3%AB` (RFC 8187). It is not verified.",
        schema: { type: "string", maxLength: 64 },
        example: "mo",
      },
    },
    headers: {
      ETag: { description: "The version, to be sent as `If-Match`.", schema: TEXT, example: '"3"' },
      RequestId: {
        description: "Identifies this request in the log and in the audit log.",
        schema: { type: "string", format: "uuid" },
      },
      RetryAfter: {
        description: "Seconds to wait before the next request.",
        schema: { type: "integer", minimum: 1 },
      },
      Authenticate: { description: "The authentication scheme.", schema: TEXT },
    },
    responses: Object.fromEntries(
      // Each code of this table has a status.
      [...Map.groupBy(Object.entries(CAUSES), ([code]) => ERROR_STATUS[code as ErrorCode])].map(
        ([status, causes]) => [status, errorResponse(status, causes, ERROR_HEADERS[status])],
      ),
    ),
    schemas: toJsonSchemaDefs(NAMED_SCHEMAS, { ...CONVERSION, typeMode: "output" }),
  },
};
