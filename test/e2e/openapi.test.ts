/** Redocly finds nothing in the document. Generated clients: test/contract. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { openApiDocument } from "../../src/openapi/document.ts";
import { runRedocly } from "../contract/redocly.ts";
import { temporaryFolder } from "../support/cli.ts";
import { ADMIN_TOKEN, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

describe("Redocly", () => {
  it("finds nothing in either document with its strictest rules", async ({ expect }) => {
    const folder = temporaryFolder();
    const document = openApiDocument({
      ownOrigin: "https://orders.petstore.test",
      productionBaseUrl: "https://orders.petstore.test/v1",
      stagingBaseUrl: "https://staging.orders.petstore.test/v1",
      supportContact: "o'brien+r&d@xn--mller-kva.example",
      petsSunsetDate: "2030-12-05",
    });
    writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
    writeFileSync(join(folder, "admin.json"), (await service.admin("GET", "/openapi.json")).text);
    const rules = ["--extends", "recommended-strict", "--format", "github-actions"];
    const { code, out } = await runRedocly(["lint", "openapi.json", "admin.json", ...rules], folder);
    expect({ code, findings: out.match(/^::.*$/gm) }).toEqual({ code: 0, findings: null });
  });
});

describe("the document of the admin API", () => {
  const get = (path: string, headers: HeadersInit = {}) => fetch(new URL(path, service.url), { headers });

  it("is for those who are signed in, and names the address of the service", async ({ expect }) => {
    expect((await get("/admin/openapi.json")).status).toBe(401);
    const { status, body } = await service.admin("GET", "/openapi.json");
    expect(status).toBe(200);
    expect(body).toMatchObject({ openapi: "3.1.0", servers: [{ url: new URL(service.url).origin }] });
    for (const path of ["/admin-openapi.txt", "/admin/openapi", "/docs/openapi.json"])
      expect((await get(path, { Authorization: `Bearer ${ADMIN_TOKEN}` })).status, path).toBe(404);
  });

  it("is served to a session of the console, and else the form for signing in is", async ({ expect }) => {
    expect((await get("/console/openapi.json")).headers.get("Content-Type")).toMatch(/^text\/html/);
  });
});
