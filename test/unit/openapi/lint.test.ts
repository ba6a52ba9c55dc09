/** The document passes two linters: Redocly and Spectral. */
import { describe, it } from "vitest";
import { openApiDocument } from "../../../src/openapi/document.ts";
import { lintWithRedocly } from "../../contract/redocly.ts";
import { lintWithSpectral } from "../../contract/spectral.ts";

const documentAt = (ownOrigin: string) =>
  openApiDocument({
    ownOrigin,
    productionBaseUrl: "https://orders.petstore.test/v1",
    stagingBaseUrl: "https://staging.orders.petstore.test/v1",
    supportContact: undefined,
    petsSunsetDate: "2030-12-05",
  });

const document = documentAt("https://orders.petstore.test");
const localDocument = documentAt("http://localhost:8787");

describe("Redocly's strictest rules", () => {
  it("find nothing in the document", ({ expect }) => {
    const { status, output } = lintWithRedocly("openapi.json", JSON.stringify(document));
    expect({ status, output }).toMatchObject({ status: 0, output: expect.not.stringMatching(/^::/m) });
  });

  it("find nothing in the document of a local instance but its local address", ({ expect }) => {
    const { output } = lintWithRedocly("openapi.json", JSON.stringify(localDocument));
    expect(output.match(/^::.*?title=[\w.-]+/gm)).toEqual(["::error title=no-server-example.com"]);
  });

  it("find a mistake that is made on purpose", ({ expect }) => {
    const { status, output } = lintWithRedocly("openapi.json", JSON.stringify({ ...document, security: [] }));
    expect(status).toBe(1);
    expect(output).toContain("no-unused-components");
  });
});

describe("Spectral's own rules and OWASP's", () => {
  it("find only the listed exceptions, and each of them", async ({ expect }) => {
    expect(await lintWithSpectral(document)).toEqual({ findings: [], stale: [] });
    const { findings, stale } = await lintWithSpectral(localDocument);
    expect(findings).toEqual([expect.stringMatching(/^owasp:api8:2023-no-server-http at servers\.0\.url/)]);
    expect(stale).toEqual([]);
  });

  it("find a mistake that is made on purpose", async ({ expect }) => {
    const { findings } = await lintWithSpectral({
      ...document,
      servers: [{ url: "http://orders.petstore.test" }],
    });
    expect(findings.join("\n")).toContain("owasp:api8:2023-no-server-http");
  });
});
