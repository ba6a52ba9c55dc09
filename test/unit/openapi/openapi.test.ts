/** openapi.yaml agrees with the rules of the code, and has the public operations only. */
import { describe, it } from "vitest";
import { MAX_IF_NONE_MATCH_CHARS } from "../../../src/worker/client/orders/routes.ts";
import { MIN_QUANTITY } from "../../../src/worker/db/values.ts";
import { CLIENT_ERRORS } from "../../../src/worker/platform/error-codes.ts";
import { contractWith } from "../../support/contract.ts";

type Ref = { $ref: string };
type Header = { example: unknown; "x-stability"?: string };
type Response = {
  headers: Record<string, Ref | Header>;
  content?: {
    "application/json": { examples?: Record<string, { value: { code: string; status: number } }> };
  };
};
type Operation = {
  operationId: string;
  deprecated?: boolean;
  "x-deprecated-sunset"?: string;
  "x-stability"?: string;
  parameters: { name: string; schema: { maxLength?: number } }[];
  responses: Record<string, Response | Ref>;
};
type Schema = {
  required?: string[];
  properties: Record<string, Record<string, unknown>>;
  examples?: { id: number; shipDate: string }[];
};
type Document = {
  openapi: string;
  info: { version: string; description: string; contact?: object };
  servers: { url: string; description: string }[];
  security: object[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    headers: Record<string, Header>;
    responses: Record<string, Response>;
    schemas: Record<string, Schema>;
  };
};

// Serialised and parsed, as a client gets it. The tests fail if it is not as the type says.
const documentWith = (settings: object = {}): Document => JSON.parse(JSON.stringify(contractWith(settings)));

const document = documentWith();
const text = document.info.description;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
);
const byId = (id: string) => operations.find(({ operationId }) => operationId === id);
const nameOf = ({ $ref }: Ref) => $ref.split("/").at(-1) ?? "";
const exampleOf = (header: Ref | Header | undefined) =>
  header !== undefined && "$ref" in header
    ? document.components.headers[nameOf(header)]?.example
    : header?.example;
const answers = operations.flatMap(({ operationId, responses }) =>
  Object.entries(responses).map(([status, response]) => {
    const found = "$ref" in response ? document.components.responses[nameOf(response)] : response;
    if (found === undefined) throw new Error(`${operationId} ${status} refers to nothing`);
    return { operationId, name: `${operationId} ${status}`, status, response: found };
  }),
);

describe("the document", () => {
  it("is OpenAPI 3.1 of version 1.0.0, with a bearer key for every operation", ({ expect }) => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("1.0.0");
    expect(document.security).toEqual([{ bearerAuth: [] }]);
  });

  it("has exactly the public operations, each with the statuses that it can answer", ({ expect }) => {
    const ofAll = ["401", "403", "429", "500", "503"];
    const statuses = operations.map(({ name, responses }) => [name, Object.keys(responses).sort()]);
    expect(Object.fromEntries(statuses)).toEqual({
      "get /store/orders": ["200", "304", "412", ...ofAll].sort(),
      "head /store/orders": ["200", "304", "412", ...ofAll].sort(),
      "delete /store/orders/{orderId}": ["204", "400", "404", "409", "412", ...ofAll].sort(),
      "get /pets/{petId}": ["2XX", "404", "410", ...ofAll].sort(),
      "head /pets/{petId}": ["2XX", "404", "410", ...ofAll].sort(),
    });
  });

  it("has int64 identifiers, and an Order without required fields", ({ expect }) => {
    const int64 = { type: "integer", format: "int64" };
    const { Order } = document.components.schemas;
    expect(Object.keys(Order?.properties ?? {})).toEqual(["id", "petId", "quantity", "shipDate", "complete"]);
    expect(Order?.required).toBeUndefined();
    expect([Order?.properties.id, Order?.properties.petId]).toMatchObject([int64, int64]);
    expect(Order?.properties.quantity?.minimum).toBe(MIN_QUANTITY);
    expect(byId("cancelOrder")?.parameters[0]?.schema).toEqual(int64);
    expect(byId("getPet")?.parameters[0]?.schema).toEqual(int64);
  });

  it("says how long If-None-Match may be", ({ expect }) => {
    expect(byId("listOrders")?.parameters[0]?.schema.maxLength).toBe(MAX_IF_NONE_MATCH_CHARS);
  });
});

describe("every response", () => {
  /** A 403 of a cancel can be that of a key that may only list, whose request counts. */
  const hasQuota = (name: string, status: string) =>
    status !== "401" && (status !== "403" || name.startsWith("cancelOrder"));

  it("has the X-RateLimit headers, X-Request-Id, and the headers of its status", ({ expect }) => {
    const always = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"];
    const special: Record<string, string[]> = {
      200: ["ETag"],
      304: ["ETag"],
      401: ["WWW-Authenticate"],
      429: ["Retry-After"],
      503: ["Retry-After"],
    };
    for (const { name, status, response } of answers) {
      const isOwnOfPet = name.includes("Pet") && ["2XX", "404", "410"].includes(status);
      const expected = [
        ...always,
        ...(hasQuota(name, status) ? ["RateLimit-Policy", "RateLimit"] : []),
        ...(special[status] ?? []),
        ...(status === "403" && hasQuota(name, status) ? ["WWW-Authenticate"] : []),
        ...(Number(status) >= 400 ? ["Link"] : []),
        ...(isOwnOfPet ? ["Deprecation", "Sunset"] : []),
      ];
      expect(Object.keys(response.headers).sort(), name).toEqual(expected.sort());
    }
  });

  it("has examples that fit each other", ({ expect }) => {
    for (const { name, status, response } of answers) {
      const [limit, remaining, wait, both] = [
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "Retry-After",
        "RateLimit",
      ].map((header) => exampleOf(response.headers[header]));
      expect(limit, name).toBe(hasQuota(name, status) ? 60 : 0);
      expect(remaining, name).toBe(hasQuota(name, status) && status !== "429" ? 59 : 0);
      if (both !== undefined) expect(both, name).toContain(`"minute";r=${remaining};`);
      if (status === "429") expect(both, name).toContain(`;t=${wait},`);
    }
  });
});

describe("the errors", () => {
  it("have every code that clients can get, in the introduction and in the schema", ({ expect }) => {
    const { Error: schema } = document.components.schemas;
    const listed = text
      .matchAll(/^\| <span id="(\w+)">`\1`<\/span> \| (\d+) \| .+ \| (?:yes|no) \| .+ \|$/gm)
      .map(([, code, status]) => [code, Number(status)]);
    expect(Object.fromEntries(listed)).toEqual(CLIENT_ERRORS);
    expect([schema?.properties.code?.["x-extensible-enum"]].flat().sort()).toEqual(
      Object.keys(CLIENT_ERRORS).sort(),
    );
    expect(schema?.properties.code).not.toHaveProperty("enum");
  });

  it("are examples of their status", ({ expect }) => {
    const { Error: schema } = document.components.schemas;
    expect(schema?.required).toEqual(["code", "message", "status"]);
    const examples = answers.flatMap(({ status, response }) =>
      Object.values(response.content?.["application/json"].examples ?? {}).map(({ value }) => ({
        status,
        value,
      })),
    );
    // No operation that the document has is answered with 405.
    const codes = Object.keys(CLIENT_ERRORS).filter((code) => code !== "method_not_allowed");
    expect(new Set(examples.map(({ value }) => value.code))).toEqual(new Set(codes));
    for (const { status, value } of examples) {
      expect(new Map(Object.entries(CLIENT_ERRORS)).get(value.code)).toBe(value.status);
      expect(value.status).toBe(Number(status));
    }
  });
});

describe("the lifecycle", () => {
  it("marks the pets operations, and no other", ({ expect }) => {
    for (const id of ["getPet", "headPet"])
      expect(byId(id)).toMatchObject({
        deprecated: true,
        "x-deprecated-sunset": "2030-12-05",
        "x-stability": "experimental",
      });
    for (const id of ["listOrders", "headOrders", "cancelOrder"]) {
      expect(Object.keys(byId(id) ?? {})).not.toContain("deprecated");
      expect(Object.keys(byId(id) ?? {})).not.toContain("x-stability");
    }
  });
});

describe("the introduction", () => {
  it("has the specification's plans and the numbers of the ban rule", ({ expect }) => {
    expect(text).toContain(
      [
        "| Free | 60 | 1,000 |",
        "| Pro | 300 | 10,000 |",
        "| Business | 1,000 | 100,000 |",
        "| Enterprise | custom | custom |",
      ].join("\n"),
    );
    expect(text).toContain("in 20 different seconds of one window is banned: for 5 minutes at first");
    expect(text).toContain(
      "up to 24 hours, each time that a ban begins within 24 hours of the last ban's end",
    );
    expect(text).toContain("The two seconds after the window's first refusal, its last second and seconds");
  });

  it("says whom to ask for a key, without a link that leads nowhere", ({ expect }) => {
    expect(text).toContain("Ask the operator of this instance for an API key.");
    for (const [supportContact, contact] of [
      ["help@example.com", { email: "help@example.com" }],
      ["https://example.com/help", { url: "https://example.com/help" }],
      [undefined, { url: "http://localhost:8787/docs" }],
    ] as const) {
      const { info } = documentWith({ supportContact });
      if (supportContact) expect(info.description).toContain(`Ask <${supportContact}> for an API key.`);
      expect(info.contact).toEqual({ name: "The operator of this instance", ...contact });
    }
  });
});
