/** Redocly finds nothing in the document. Generated clients: test/contract. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { openApiDocument } from "../../src/openapi/document.ts";
import { runRedocly } from "../contract/redocly.ts";
import { temporaryFolder } from "../support/cli.ts";

describe("Redocly", () => {
  it("finds nothing in the document with its strictest rules", async ({ expect }) => {
    const folder = temporaryFolder();
    const document = openApiDocument({
      ownOrigin: "https://orders.petstore.test",
      productionBaseUrl: "https://orders.petstore.test/v1",
      stagingBaseUrl: "https://staging.orders.petstore.test/v1",
      supportContact: "o'brien+r&d@xn--mller-kva.example",
      petsSunsetDate: "2030-12-05",
    });
    writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
    const lint = ["lint", "openapi.json", "--extends", "recommended-strict", "--format", "github-actions"];
    const { code, out } = await runRedocly(lint, folder);
    expect({ code, findings: out.match(/^::.*$/gm) }).toEqual({ code: 0, findings: null });
  });
});
