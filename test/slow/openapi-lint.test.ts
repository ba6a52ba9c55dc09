/** The document passes two linters: Redocly, and Spectral with its default ruleset and OWASP's. */
import { describe, it } from "vitest";
import { openApiDocument } from "../../src/openapi/document.ts";
import { lintWithRedocly } from "../contract/redocly.ts";
import { lintWithDefaultRuleset, lintWithOwaspRuleset } from "../contract/spectral.ts";

const documentAt = (ownOrigin: string, supportContact: string) =>
  openApiDocument({
    ownOrigin,
    productionBaseUrl: "https://orders.petstore.test/v1",
    stagingBaseUrl: "https://staging.orders.petstore.test/v1",
    supportContact,
    petsSunsetDate: "2030-12-05",
  });

const document = documentAt("https://orders.petstore.test", "o'brien+r&d@xn--mller-kva.example");
const localDocument = documentAt("http://localhost:8787", "https://help.example.com/keys?from=docs#a%20b");

describe("Redocly's strictest rules", () => {
  it("find nothing in the document", ({ expect }) => {
    const { status, output } = lintWithRedocly("openapi.json", JSON.stringify(document));
    expect({ status, output }).toMatchObject({ status: 0, output: expect.not.stringMatching(/^::/m) });
  });

  // The rule is against servers in published documents. Without an absolute address, generated clients do not work (generated-clients.test.ts).
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

describe("Spectral's default ruleset", () => {
  it("finds only that the deprecated operation has no success, on a local instance too", async ({
    expect,
  }) => {
    expect(await lintWithDefaultRuleset(document)).toEqual({ findings: [], stale: [] });
    expect(await lintWithDefaultRuleset(localDocument)).toEqual({ findings: [], stale: [] });
  });

  it("finds a mistake that is made on purpose", async ({ expect }) => {
    const { findings } = await lintWithDefaultRuleset({ ...document, tags: [] });
    expect(findings.join("\n")).toContain("operation-tag-defined");
  });
});

describe("Spectral's OWASP ruleset", () => {
  it("finds only the listed exceptions, and each of them", async ({ expect }) => {
    expect(await lintWithOwaspRuleset(document)).toEqual({ findings: [], stale: [] });
    const { findings, stale } = await lintWithOwaspRuleset(localDocument);
    expect(findings).toEqual([expect.stringMatching(/^owasp:api8:2023-no-server-http at servers\.0\.url/)]);
    expect(stale).toEqual([]);
  });

  it("finds a mistake that is made on purpose", async ({ expect }) => {
    const { findings } = await lintWithOwaspRuleset({
      ...document,
      servers: [{ url: "http://orders.petstore.test" }],
    });
    expect(findings.join("\n")).toContain("owasp:api8:2023-no-server-http");
  });
});
