/** The OpenAPI document of clients, from the text that the build has made. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DocumentSettings, openApiDocument } from "../../src/openapi/document.ts";

const TEMPLATE = join(import.meta.dirname, "../../dist/openapi.txt");

/** An instance on this machine, unless the settings say otherwise. */
export function contractWith(settings: Partial<DocumentSettings>) {
  return openApiDocument(readFileSync(TEMPLATE, "utf8"), {
    ownOrigin: "http://localhost:8787",
    productionBaseUrl: undefined,
    stagingBaseUrl: undefined,
    supportContact: undefined,
    petsSunsetDate: "2030-12-05",
    ...settings,
  });
}
