/** The responses of the running service match the OpenAPI document, checked by Prism, and every documented response occurs. */
import { beforeAll, describe, it } from "vitest";
import { openApiDocument } from "../../src/openapi/document.ts";
import { validate } from "../contract/prism.ts";
import { type Exchange, recordTraffic } from "../contract/traffic.ts";

// The document of the service that answers most of the recorded requests.
const document = documentWith("2030-12-05");
const afterSunset = documentWith("2026-11-21");

type Documented = {
  paths: Record<string, Record<string, { responses: Record<string, DocumentedResponse> }>>;
};
type DocumentedResponse = {
  content?: Record<string, { examples: Record<string, { value: { code: string; message: string } }> }>;
};

let traffic: Exchange[];

beforeAll(async () => {
  traffic = await recordTraffic();
});

describe("the recorded traffic", () => {
  it("has every documented response of every operation, and no other", ({ expect }) => {
    const documented = responses().map(({ path, method, status }) => `${method} ${path} ${status}`);
    const seen = traffic.map(({ path, method, status }) => `${method} ${path} ${status}`);
    expect([...new Set(seen)].sort()).toEqual(documented.sort());
    expect(documented).toHaveLength(28);
  });

  it("has every documented error code, with the documented message except for its numbers", ({ expect }) => {
    const documented = responses().flatMap(({ path, method, response }) =>
      Object.values(response.content?.["application/json"]?.examples ?? {})
        .filter(({ value }) => "code" in value)
        .map(({ value }) => `${method} ${path} ${value.code}: ${withoutNumbers(value.message)}`),
    );
    const seen = traffic
      .filter(({ status }) => status >= 400)
      .map(({ path, method, body }) => {
        const { code, message } = JSON.parse(body);
        return `${method} ${path} ${code}: ${withoutNumbers(message)}`;
      });
    expect([...new Set(seen)].sort()).toEqual(documented.sort());
  });

  it("passes Prism's validation proxy without an error or a warning", async ({ expect }) => {
    const isGone = ({ status }: Exchange) => status === 410;
    const verdicts = [
      ...(await validate(
        document,
        traffic.filter((exchange) => !isGone(exchange)),
      )),
      ...(await validate(afterSunset, traffic.filter(isGone))),
    ];
    expect(verdicts).toHaveLength(traffic.length);
    expect(verdicts.filter(({ violations }) => violations.length > 0)).toEqual([]);
  });

  it("would fail Prism with a wrong header, body or status", async ({ expect }) => {
    const find = (status: number) => {
      const found = traffic.find((exchange) => exchange.status === status);
      if (!found) throw new Error(`no response has status ${status}`);
      return found;
    };
    const without = (exchange: Exchange, header: string) => ({
      ...exchange,
      responseHeaders: Object.fromEntries(
        Object.entries(exchange.responseHeaders).filter(([name]) => name !== header),
      ),
    });
    const forged: Exchange[] = [
      without(find(200), "x-ratelimit-remaining"),
      without(find(429), "retry-after"),
      without(find(405), "allow"),
      without(find(410), "sunset"),
      { ...find(200), responseHeaders: { ...find(200).responseHeaders, "x-ratelimit-reset": "soon" } },
      { ...find(200), body: '[{"id":"1"}]' },
      { ...find(429), body: '{"code":"too_many","message":"No.","status":429}' },
      { ...find(409), body: '{"code":"order_already_shipped","message":"No.","status":404}' },
      { ...find(404), body: '{"error":{"code":"not_found","message":"No.","status":404}}' },
      { ...find(204), status: 202 },
    ];
    const verdicts = await validate(document, forged);
    expect(
      verdicts.filter(({ violations }) => violations.length === 0).map(({ exchange }) => exchange),
    ).toEqual([]);
  });
});

/** A copy, because Prism resolves references in place, and test files in one process share the document's constants. */
function documentWith(petsSunsetDate: string): object {
  return structuredClone(
    openApiDocument({
      ownOrigin: "https://orders.test",
      productionBaseUrl: undefined,
      stagingBaseUrl: undefined,
      supportContact: undefined,
      petsSunsetDate,
    }),
  );
}

/** Without `default`, which only says of getPet that it has no successful response. */
function responses() {
  // The tests of the document check that it has this shape.
  const { paths } = document as Documented;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      Object.entries(operation.responses)
        .filter(([status]) => status !== "default")
        .map(([status, response]) => ({ path, method, status, response })),
    ),
  );
}

function withoutNumbers(message: string): string {
  return message.replace(/\d+/g, "0").replace("per day", "per minute");
}
