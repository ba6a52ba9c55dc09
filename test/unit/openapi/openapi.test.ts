/** The OpenAPI document agrees with the tables of the code, and has the public operations only. */
import { describe, it } from "vitest";
import { DEFAULT_PLANS } from "../../../src/openapi/default-plans.ts";
import { openApiDocument } from "../../../src/openapi/document.ts";
import { ERROR_CATALOGUE, PUBLIC_CODES } from "../../../src/openapi/error-catalogue.ts";
import { introduction } from "../../../src/openapi/introduction.ts";
import { MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE } from "../../../src/worker/auth/ip-rate-limit-rules.ts";
import { ERROR_STATUS } from "../../../src/worker/error-codes.ts";

type Response = {
  headers: Record<string, { $ref: string }>;
  content?: { "application/json": { examples: Record<string, { value: unknown }> } };
};
type Operation = {
  operationId: string;
  deprecated?: boolean;
  "x-deprecated-sunset"?: string;
  "x-stability"?: string;
  parameters: { name: string; schema: object }[];
  responses: Record<string, Response>;
};
type Document = {
  openapi: string;
  info: { version: string };
  servers: { url: string; description: string }[];
  security: object[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    headers: Record<string, { schema: { const?: string; pattern?: string }; "x-stability"?: string }>;
    schemas: Record<string, { required?: string[]; properties: Record<string, Record<string, unknown>> }>;
  };
};

const settings = {
  ownOrigin: "http://localhost:8787",
  productionBaseUrl: undefined,
  stagingBaseUrl: undefined,
  supportContact: undefined,
  petsSunsetDate: "2030-12-05",
};

// Serialised and parsed, as a client gets it. The tests fail if it is not as the type says.
const documentWith = (changes: Partial<typeof settings> | object = {}): Document =>
  JSON.parse(JSON.stringify(openApiDocument({ ...settings, ...changes })));

const document = documentWith();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
);
const answers = operations.flatMap(({ operationId, responses }) =>
  Object.entries(responses).map(([status, response]) => ({
    name: `${operationId} ${status}`,
    status,
    response,
  })),
);
const byId = (id: string) => operations.find(({ operationId }) => operationId === id);

describe("the document", () => {
  it("is OpenAPI 3.1 of version 1.0.0, with a bearer key for every operation", ({ expect }) => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("1.0.0");
    expect(document.security).toEqual([{ bearerAuth: [] }]);
  });

  it("has exactly the public operations", ({ expect }) => {
    expect(operations.map(({ name, operationId }) => `${operationId}: ${name}`)).toEqual([
      "listOrders: get /store/orders",
      "cancelOrder: delete /store/orders/{orderId}",
      "getPet: get /pets/{petId}",
    ]);
  });
});

describe("the servers", () => {
  const serversWith = (changes: object) =>
    documentWith(changes).servers.map((each) => `${each.description}: ${each.url}`);

  it("are the instance that serves the document, and the configured ones", ({ expect }) => {
    const configured = {
      productionBaseUrl: "https://api.example.com/v1",
      stagingBaseUrl: "https://staging.example.com/v1",
    };
    expect(serversWith({})).toEqual(["Local: http://localhost:8787/v1"]);
    expect(serversWith(configured)).toEqual([
      "Local: http://localhost:8787/v1",
      "Production: https://api.example.com/v1",
      "Staging: https://staging.example.com/v1",
    ]);
    expect(serversWith({ ...configured, ownOrigin: "https://staging.example.com" })).toEqual([
      "Staging: https://staging.example.com/v1",
      "Production: https://api.example.com/v1",
    ]);
    expect(serversWith({ ownOrigin: "https://orders.somebody.dev" })).toEqual([
      "This instance: https://orders.somebody.dev/v1",
    ]);
  });

  it("have an absolute address, also on a local instance", ({ expect }) => {
    for (const local of ["http://localhost:8787", "http://127.0.0.9", "https://[::1]:8443"]) {
      expect(serversWith({ ownOrigin: local }), local).toEqual([`Local: ${local}/v1`]);
    }
    for (const remote of [
      "https://localhost.example.com",
      "http://10.127.0.0.1",
      "https://127.0.0.1.example",
    ]) {
      expect(serversWith({ ownOrigin: remote }), remote).toEqual([`This instance: ${remote}/v1`]);
    }
  });
});

describe("every response", () => {
  const rateLimitHeaders = (response: Response) => Object.keys(response.headers);

  it("has the X-RateLimit headers and X-Request-Id", ({ expect }) => {
    for (const { name, response } of answers) {
      expect(rateLimitHeaders(response), name).toEqual(
        expect.arrayContaining([
          "X-RateLimit-Limit",
          "X-RateLimit-Remaining",
          "X-RateLimit-Reset",
          "X-Request-Id",
        ]),
      );
    }
  });

  it("has the headers of its status", ({ expect }) => {
    const special = {
      200: "ETag",
      304: "ETag",
      401: "WWW-Authenticate",
      405: "Allow",
      429: "Retry-After",
      503: "Retry-After",
    };
    for (const [status, header] of Object.entries(special)) {
      const those = answers.filter((answer) => answer.status === status);
      expect(those.length, status).toBeGreaterThan(0);
      for (const { name, response } of those) expect(rateLimitHeaders(response), name).toContain(header);
    }
    for (const { name, status, response } of answers) {
      const hasKey = !["401", "403", "414"].includes(status);
      expect(rateLimitHeaders(response).includes("RateLimit-Policy"), name).toBe(hasKey);
    }
  });

  it("refers to headers that are described, and every described header is used", ({ expect }) => {
    const used = answers.flatMap(({ response }) => Object.values(response.headers).map(({ $ref }) => $ref));
    const described = Object.keys(document.components.headers).map((name) => `#/components/headers/${name}`);
    expect([...new Set(used)].sort()).toEqual(described.sort());
  });
});

describe("the errors", () => {
  it("have every code of ERROR_STATUS, except those of the admin API", ({ expect }) => {
    const adminCodes = [
      "invalid_request",
      "request_timeout",
      "conflict",
      "repeated_call",
      "content_too_large",
    ];
    const known = Object.keys(ERROR_STATUS).filter((code) => !adminCodes.includes(code));
    expect([...PUBLIC_CODES].sort()).toEqual(known.sort());
    expect(document.components.schemas.Error?.properties.code?.enum).toEqual(PUBLIC_CODES);
    expect(document.components.schemas.Error?.required).toEqual(["code", "message", "status"]);
  });

  it("have the statuses of ERROR_STATUS, and each occurs", ({ expect }) => {
    const examples = answers
      .filter(({ status }) => Number(status) >= 400)
      .flatMap(({ status, response }) =>
        Object.entries(response.content?.["application/json"].examples ?? {}).map(([code, { value }]) => ({
          status,
          code,
          value,
        })),
      );
    for (const { status, code, value } of examples) {
      expect(value).toMatchObject({ code, status: Number(status) });
      expect(new Map(Object.entries(ERROR_STATUS)).get(code)).toBe(Number(status));
    }
    expect([...new Set(examples.map(({ code }) => code))].sort()).toEqual([...PUBLIC_CODES].sort());
  });

  it("are all in the introduction's table", ({ expect }) => {
    for (const code of PUBLIC_CODES)
      expect(introduction()).toContain(`| \`${code}\` | ${ERROR_STATUS[code]} |`);
  });
});

describe("the per-IP rate limit of unknown keys", () => {
  it("is in the introduction, and is a cause of rate_limit_exceeded", ({ expect }) => {
    expect(introduction()).toContain(`per-IP rate limit of ${MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE} per minute`);
    expect(ERROR_CATALOGUE.rate_limit_exceeded.when).toContain("unknown keys");
  });
});

describe("the ETag", () => {
  it("may be weak, because compression in transit makes it so", ({ expect }) => {
    const pattern = new RegExp(document.components.headers.ETag?.schema.pattern ?? "^$");
    for (const etag of ['"251-43e1321695114b32"', 'W/"251-43e1321695114b32"']) expect(etag).toMatch(pattern);
    expect("251").not.toMatch(pattern);
  });
});

describe("the identifiers", () => {
  it("are int64 in the Order schema and in both paths", ({ expect }) => {
    const { Order } = document.components.schemas;
    expect(Object.keys(Order?.properties ?? {})).toEqual(["id", "petId", "quantity", "shipDate", "complete"]);
    expect(Order?.required).toBeUndefined();
    const int64 = { type: "integer", format: "int64" };
    expect(Order?.properties.id).toMatchObject(int64);
    expect(Order?.properties.petId).toMatchObject(int64);
    expect(byId("cancelOrder")?.parameters[0]?.schema).toEqual(int64);
    expect(byId("getPet")?.parameters[0]?.schema).toEqual(int64);
  });
});

describe("each fixed value", () => {
  it("has its type beside it, since a generator can take a number without one for a string", ({ expect }) => {
    const untyped: string[] = [];
    JSON.parse(JSON.stringify(document), (name, value) => {
      const isFixed = typeof value?.const !== "undefined" || Array.isArray(value?.enum);
      if (isFixed && value.type === undefined) untyped.push(`${name}: ${JSON.stringify(value)}`);
      return value;
    });
    expect(untyped).toEqual([]);
  });
});

describe("the lifecycle", () => {
  it("marks the pets operation as deprecated and experimental", ({ expect }) => {
    expect(byId("getPet")).toMatchObject({
      deprecated: true,
      "x-deprecated-sunset": "2030-12-05",
      "x-stability": "experimental",
    });
  });

  it("follows the setting, in the operation and in the headers", ({ expect }) => {
    const { paths, components } = documentWith({ petsSunsetDate: "2027-01-31" });
    expect(paths["/pets/{petId}"]?.get?.["x-deprecated-sunset"]).toBe("2027-01-31");
    expect(components.headers.Sunset?.schema.const).toBe("Sun, 31 Jan 2027 00:00:00 GMT");
    expect(components.headers.Deprecation?.schema.const).toBe("@1795219200");
  });

  it("has its headers on every response of the deprecated operation, and on no other", ({ expect }) => {
    for (const { name, response } of answers) {
      const announced = ["Deprecation", "Sunset"].filter((header) => header in response.headers);
      expect(announced, name).toHaveLength(name.startsWith("getPet") ? 2 : 0);
    }
  });

  it("marks the headers of the IETF draft as experimental", ({ expect }) => {
    const marked = Object.entries(document.components.headers).filter(([, header]) => header["x-stability"]);
    expect(marked.map(([name]) => name)).toEqual(["RateLimit-Policy", "RateLimit"]);
  });

  it("marks no other operation", ({ expect }) => {
    for (const id of ["listOrders", "cancelOrder"]) {
      expect(Object.keys(byId(id) ?? {})).not.toContain("deprecated");
      expect(Object.keys(byId(id) ?? {})).not.toContain("x-stability");
    }
  });
});

describe("the introduction", () => {
  it("has the specification's plan table", ({ expect }) => {
    expect(introduction()).toContain(
      [
        "| Free | 60 | 1000 |",
        "| Pro | 300 | 10000 |",
        "| Business | 1000 | 100000 |",
        "| Enterprise | custom | custom |",
      ].join("\n"),
    );
    expect(Object.keys(DEFAULT_PLANS)).toEqual(["free", "pro", "business", "enterprise"]);
  });

  it("states the ban rule with its numbers", ({ expect }) => {
    const text = introduction();
    expect(text).toContain("unless it was sent within 1 second of the window's first refusal");
    expect(text).toContain(
      "those of the current UTC minute and the 9 before it count. A ban begins at 20 strikes, or at a third of the minute's limit",
    );
    expect(text).toContain("lasts 5 minutes");
    expect(text).toContain("within 24 hours of the end of the last ban is twice as long, up to 24 hours");
  });
});
