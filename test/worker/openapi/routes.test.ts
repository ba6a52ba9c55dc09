/** The routes that need no key: the front page, and the OpenAPI document, which agrees with the database. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { startApp } from "../../support/worker.ts";

type Paths = Record<string, Record<string, { readonly deprecated?: boolean }>>;

const app = startApp();

describe("the front page", () => {
  it("says in one line what this is and links to the documentation", async ({ expect }) => {
    const response = await app("/");
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toMatch(/^text\/html/);
    expect(response.headers.get("Link")).toBe(
      '</docs>; rel="service-doc", </openapi.json>; rel="service-desc"',
    );
    const text = await response.text();
    expect(text.trim().split("\n")).toHaveLength(1);
    expect(text).toContain('<a href="/docs">');
  });
});

describe("well-known addresses", () => {
  it("list the API for programs", async ({ expect }) => {
    const response = await app("/.well-known/api-catalog");
    expect(response.headers.get("Content-Type")).toMatch(/^application\/linkset\+json/);
    expect(response.headers.get("Link")).toMatch(/rel="api-catalog"/);
    const { linkset } = await response.json<{ linkset: Record<string, { href: string }[]>[] }>();
    for (const { "service-desc": desc = [], status = [] } of linkset)
      for (const { href } of [...desc, ...status])
        expect((await app(new URL(href).pathname)).status).toBe(200);
  });

  it.for([
    ["ops@example.com", "mailto:ops@example.com"],
    ["https://example.com/help", "https://example.com/help"],
  ])("tell where to report a security hole: %s", async ([SUPPORT_CONTACT = "", contact], { expect }) => {
    const response = await startApp({ SUPPORT_CONTACT })("/.well-known/security.txt");
    const [, expires = ""] =
      new RegExp(`^Contact: ${contact}\nExpires: (.+)\n`).exec(await response.text()) ?? [];
    expect(Date.parse(expires)).toBeGreaterThan(Date.now());
    expect((await app("/.well-known/security.txt")).status).toBe(404);
  });
});

describe("the OpenAPI document", () => {
  it("can be read by a page of any origin, with a header of its own", async ({ expect }) => {
    const Origin = "https://editor.example";
    const headers = {
      Origin,
      "Access-Control-Request-Method": "GET",
      "Access-Control-Request-Headers": "x-id",
    };
    for (const response of [
      await app("/openapi.json", { headers: { Origin } }),
      await app("/openapi.json", { method: "OPTIONS", headers }),
    ]) {
      expect(response.ok).toBe(true);
      expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    }
  });

  it("names https behind a tunnel or an edge, which answer no plain HTTP, so that clients do not send their keys in clear", async ({
    expect,
  }) => {
    for (const scheme of ["https", "http"]) {
      const headers = { "CF-Ray": "1", "CF-Visitor": JSON.stringify({ scheme }) };
      const response = await app("/openapi.json", { origin: "http://orders.example", headers });
      expect(await response.json()).toMatchObject({ servers: [{ url: "https://orders.example/v1" }] });
    }
  });

  it("has the configured base URLs and sunset date", async ({ expect }) => {
    const configured = startApp({
      PRODUCTION_BASE_URL: "https://api.example.com/v1",
      STAGING_BASE_URL: "https://staging.example.com/v1",
      PETS_SUNSET_DATE: "2029-03-01",
    });
    const response = await configured("/openapi.json");
    expect(await response.json()).toMatchObject({
      servers: [
        { url: "https://orders.example/v1" },
        { url: "https://api.example.com/v1", description: "Production" },
        { url: "https://staging.example.com/v1", description: "Staging" },
      ],
      paths: { "/pets/{petId}": { get: { "x-deprecated-sunset": "2029-03-01" } } },
    });
  });
});

describe("a path that does not exist", () => {
  it("is answered with the document's paths, and is not repeated", async ({ expect }) => {
    const { paths } = await (await app("/openapi.json")).json<{ paths: Paths }>();
    const ofUse = Object.entries(paths).flatMap(([path, { head: _, ...operations }]) =>
      Object.entries(operations)
        .filter(([, { deprecated }]) => !deprecated)
        .map(([method]) => `${method.toUpperCase()} /v1${path}`),
    );
    for (const path of ["/store/orders", "/v1/orders", "/<b>%3Cb%3E"]) {
      const { key } = path.startsWith("/v1") ? await createKey() : {};
      const response = await app(path, key === undefined ? {} : { key });
      const { message } = await response.json<{ message: string }>();
      expect(message.match(/(?:GET|DELETE) [^ ]+(?<!\.)/g), path).toEqual(ofUse);
      expect(message).not.toMatch(/<|%/);
    }
  });
});

describe("the plans of the document", () => {
  it("are the plans of the migrated database", async ({ expect }) => {
    const { results } = await env.DB.prepare(
      "select upper(substr(id, 1, 1)) || substr(id, 2) as name, requests_per_minute as minute, requests_per_day as day from plans order by requests_per_day is null, requests_per_day",
    ).all();
    const document = await (await app("/openapi.json")).text();
    const inWords = (limit: unknown) => (limit === null ? "custom" : Number(limit).toLocaleString("en-US"));
    const rows = results.map(({ name, minute, day }) => `| ${name} | ${inWords(minute)} | ${inWords(day)} |`);
    expect(document).toContain(JSON.stringify(rows.join("\n")).slice(1, -1));
  });
});
