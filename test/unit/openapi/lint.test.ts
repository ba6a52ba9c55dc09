/** Two linters that others wrote read the document. */
import { describe, it } from "vitest";
import { openApiDocument } from "../../../src/openapi/document.ts";
import { lintWithRedocly } from "../../contract/redocly.ts";
import { lintWithSpectral } from "../../contract/spectral.ts";

const documentAt = (ownOrigin: string) =>
  openApiDocument({
    ownOrigin,
    productionBaseUrl: "https://orders.petstore.test/v1",
    stagingBaseUrl: "https://staging.orders.petstore.test/v1",
    petsSunsetDate: "2030-12-05",
  });

const document = documentAt("https://orders.petstore.test");
const localDocument = documentAt("http://localhost:8787");

describe("Redocly's strictest rules", () => {
  it("find nothing in the JSON", ({ expect }) => {
    const { status, output } = lintWithRedocly("openapi.json", JSON.stringify(document));
    expect({ status, output }).toMatchObject({ status: 0, output: expect.not.stringMatching(/^::/m) });
  });

  it("find nothing in what a local instance serves", ({ expect }) => {
    const { status, output } = lintWithRedocly("openapi.json", JSON.stringify(localDocument));
    expect({ status, output }).toMatchObject({ status: 0, output: expect.not.stringMatching(/^::/m) });
  });

  it("would find something", ({ expect }) => {
    const { status, output } = lintWithRedocly("openapi.json", JSON.stringify({ ...document, security: [] }));
    expect(status).toBe(1);
    expect(output).toContain("no-unused-components");
  });
});

describe("Spectral's rules and OWASP's", () => {
  it("find nothing but what is argued for, and no argument is left over", async ({ expect }) => {
    expect(await lintWithSpectral(document)).toEqual({ findings: [], stale: [] });
    expect(await lintWithSpectral(localDocument)).toEqual({ findings: [], stale: [] });
  });

  it("would find something", async ({ expect }) => {
    const { findings } = await lintWithSpectral({
      ...document,
      servers: [{ url: "http://orders.petstore.test" }],
    });
    expect(findings.join("\n")).toContain("owasp:api8:2023-no-server-http");
  });
});
