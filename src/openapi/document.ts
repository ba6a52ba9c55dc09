/** Builds the OpenAPI document: the public operations only, generated from the tables that the Worker itself uses. */

import { SCHEMAS } from "./component-schemas.ts";
import { headerComponents } from "./headers.ts";
import { introduction } from "./introduction.ts";
import type { JsonObject } from "./json.ts";
import { lifecyclesOf } from "./lifecycle.ts";
import { pathsOf } from "./operations.ts";

export type DocumentSettings = {
  /** The origin that the document was requested at. */
  readonly ownOrigin: string;
  readonly productionBaseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  /** An e-mail address or an https address; undefined if not configured. */
  readonly supportContact: string | undefined;
  readonly petsSunsetDate: string;
};

export function openApiDocument(settings: DocumentSettings): JsonObject {
  const lifecycles = lifecyclesOf(settings);
  return {
    openapi: "3.1.0",
    info: {
      title: "Store Orders",
      version: "1.0.0",
      summary: "List and cancel the orders of a pet store.",
      description: introduction(),
      contact: contactOf(settings),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: serversOf(settings),
    security: [{ bearerAuth: [] }],
    tags: [
      { name: "Orders", description: "The orders placed in the store." },
      { name: "Pets", description: "One deprecated operation." },
    ],
    paths: pathsOf(lifecycles),
    components: {
      securitySchemes: {
        bearerAuth: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "sok_…",
          description: "Your API key.",
        },
      },
      headers: headerComponents(lifecycles.getPet),
      schemas: SCHEMAS,
    },
  };
}

function contactOf({ supportContact }: DocumentSettings): JsonObject {
  const name = "The operator of this instance";
  if (supportContact === undefined) return { name };
  return supportContact.startsWith("https:")
    ? { name, url: supportContact }
    : { name, email: supportContact };
}

/** The instance that serves the document comes first, because tools send trial requests to the first server. */
function serversOf({ ownOrigin, productionBaseUrl, stagingBaseUrl }: DocumentSettings): JsonObject[] {
  const named = [
    { url: productionBaseUrl, description: "Production" },
    { url: stagingBaseUrl, description: "Staging" },
  ];
  const own = named.find(({ url }) => url === `${ownOrigin}/v1`) ?? {
    // Absolute on a local instance as well: hey-api, orval and swagger-typescript-api do not resolve a relative address.
    url: `${ownOrigin}/v1`,
    description: isLocal(ownOrigin) ? "Local" : "This instance",
  };
  const others = named.filter(({ url }) => url !== undefined && url !== own.url);
  return [own, ...others].map((server) => ({ ...server, "x-internal": false }));
}

/**
 * Whether an origin is this machine. A pattern, since `URL` is not part of the language (this folder's tsconfig has no platform
 * types).
 */
function isLocal(origin: string): boolean {
  return /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/.test(origin);
}
