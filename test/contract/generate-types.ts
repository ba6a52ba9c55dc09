/** Generates TypeScript types of the document with openapi-typescript. As a program, it writes the file that typed-calls.ts uses. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTypescript, { astToString } from "openapi-typescript";
import { openApiDocument } from "../../src/openapi/document.ts";

export const TYPES_FILE = join(import.meta.dirname, "openapi-types.d.ts");

export async function generateTypes(): Promise<string> {
  const document = openApiDocument({
    ownOrigin: "https://orders.test",
    productionBaseUrl: undefined,
    stagingBaseUrl: undefined,
    supportContact: undefined,
    petsSunsetDate: "2030-12-05",
  });
  const types = await openapiTypescript(JSON.stringify(document), { silent: true });
  return `// Generated from the OpenAPI document by test/contract/generate-types.ts.\n${astToString(types)}`;
}

if (import.meta.main) writeFileSync(TYPES_FILE, await generateTypes());
