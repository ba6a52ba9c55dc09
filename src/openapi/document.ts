/**
 * Builds the OpenAPI document of the public operations from the tables that the Worker itself uses.
 *
 * Pure, like every file of this folder.
 */
import { headerComponents } from "./headers.ts";
import { introduction } from "./introduction.ts";
import type { JsonObject } from "./json.ts";
import { pathsOf } from "./operations.ts";
import { responseComponents } from "./responses.ts";
import { SCHEMAS } from "./schemas.ts";

export type DocumentSettings = {
  /** The origin of the request for the document. */
  readonly ownOrigin: string;
  readonly productionBaseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  /** An e-mail address or an https address. Undefined if not configured. */
  readonly supportContact: string | undefined;
  readonly petsSunsetDate: string;
};

export function openApiDocument(settings: DocumentSettings): JsonObject {
  return {
    openapi: "3.1.0",
    info: {
      title: "Store Orders",
      version: "1.0.0",
      summary: "List and cancel the orders of a pet store.",
      description: introduction(`${settings.ownOrigin}/v1`, settings.supportContact),
      contact: contactOf(settings),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: serversOf(settings),
    security: [{ bearerAuth: [] }],
    tags: [
      { name: "Orders", description: "The orders placed in the store." },
      { name: "Pets", description: "One deprecated operation." },
    ],
    paths: pathsOf(settings.petsSunsetDate),
    components: {
      securitySchemes: {
        bearerAuth: { type: "http", scheme: "bearer", bearerFormat: "sok_…", description: "Your API key." },
      },
      headers: headerComponents(settings.petsSunsetDate),
      responses: responseComponents(),
      schemas: SCHEMAS,
    },
  };
}

/** Without an address there is no contact, because pages show a name alone as a link that leads nowhere. */
function contactOf({ supportContact }: DocumentSettings): JsonObject | undefined {
  const name = "The operator of this instance";
  if (supportContact === undefined) return undefined;
  return supportContact.startsWith("https:")
    ? { name, url: supportContact }
    : { name, email: supportContact };
}

/** The instance that serves the document comes first, because tools send test calls to the first server. */
function serversOf({ ownOrigin, productionBaseUrl, stagingBaseUrl }: DocumentSettings): JsonObject[] {
  const named = [
    { url: productionBaseUrl, description: "Production" },
    { url: stagingBaseUrl, description: "Staging" },
  ];
  // The address is absolute also on a local instance, because hey-api does not resolve a relative address.
  const ownUrl = `${ownOrigin}/v1`;
  const own = named.find(({ url }) => url === ownUrl) ?? { url: ownUrl, description: "This instance" };
  return [own, ...named.filter(({ url }) => url !== undefined && url !== ownUrl)];
}
