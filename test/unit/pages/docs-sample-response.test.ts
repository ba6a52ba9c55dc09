/** The responses that the quick start shows, against the OpenAPI document. */
import { describe, it } from "vitest";
import { openApiDocument } from "../../../src/openapi/document.ts";
import { type OpenApi, operationsOf } from "../../../src/pages/docs/openapi-model.ts";
import { sampleResponse } from "../../../src/pages/docs/sample-response.ts";

// The document has the shape that the page's own type describes a part of.
const openapi = openApiDocument({
  ownOrigin: "https://orders.example",
  productionBaseUrl: undefined,
  stagingBaseUrl: undefined,
  supportContact: undefined,
  petsSunsetDate: "2030-12-05",
}) as unknown as OpenApi;

describe("a sample response", () => {
  it("has the status, the headers, and the body of the document's example", ({ expect }) => {
    const list = operationsOf(openapi).find(({ operation }) => operation.operationId === "listOrders");
    if (!list) throw new Error("the document has no listOrders");
    const ok = sampleResponse(openapi, list.operation, { status: "200", headers: { ETag: undefined } });
    expect(ok).toMatch(/^HTTP\/1\.1 200 OK\nETag: "251-8d2f0b1c9e7a6543"\n\n\[\n {2}\{"id":10,/);
    const refused = sampleResponse(openapi, list.operation, {
      status: "429",
      headers: { "Retry-After": undefined, "X-RateLimit-Remaining": "0" },
      example: "rate_limit_exceeded",
    });
    expect(refused).toMatch(
      /^HTTP\/1\.1 429 Too Many Requests\nRetry-After: 17\nX-RateLimit-Remaining: 0\n\n\{/,
    );
    expect(refused).toContain('"code": "rate_limit_exceeded"');
  });
});
