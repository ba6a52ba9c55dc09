/** Who gets the document of the admin API. */
import { beforeAll, describe, it } from "vitest";
import { ADMIN_TOKEN, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

describe("the document of the admin API", () => {
  const get = (path: string, headers: HeadersInit = {}) => fetch(new URL(path, service.url), { headers });

  it("is for those who are signed in, and names the address of the service", async ({ expect }) => {
    expect((await get("/admin/openapi.json")).status).toBe(401);
    const { status, body } = await service.admin("GET", "/openapi.json");
    expect(status).toBe(200);
    const { origin } = new URL(service.url);
    expect(body).toMatchObject({
      openapi: "3.1.0",
      info: { contact: { url: `${origin}/docs` } },
      servers: [{ url: origin }],
    });
    for (const path of ["/admin-openapi.txt", "/admin/openapi", "/docs/openapi.json"])
      expect((await get(path, { Authorization: `Bearer ${ADMIN_TOKEN}` })).status, path).toBe(404);
  });

  it("is served to a session of the console, and else the form for signing in is", async ({ expect }) => {
    expect((await get("/console/openapi.json")).headers.get("Content-Type")).toMatch(/^text\/html/);
  });
});
