/** The documentation page on a phone, against the running service. Other files of this folder have its panels, its search and its layout. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, findBrowser, openBrowser, SCREENS } from "../support/browser.ts";
import { insertOrders, openDocs, panelOf } from "../support/docs-page.ts";
import { openService, type Service } from "../support/service.ts";

const executablePath = findBrowser();
const MAX_PAGE_BYTES = 47_000;

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await openService();
  if (executablePath !== undefined) browser = await openBrowser(executablePath);
  await insertOrders(service);
});

afterAll(async () => {
  await browser?.close();
});

describe("the files of the documentation page", () => {
  const get = (path: string) => fetch(new URL(path, service.url), { redirect: "manual" });

  it("have a policy that allows only their own origin, and no inline script or style", async ({ expect }) => {
    const types = { "/docs": "text/html", "/docs/page.js": "text/javascript", "/docs/page.css": "text/css" };
    for (const [path, type] of Object.entries(types)) {
      const { status, headers } = await get(path);
      expect(status, path).toBe(200);
      expect(headers.get("Content-Type"), path).toContain(type);
      expect(headers.get("Content-Security-Policy"), path).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers.get("X-Content-Type-Options"), path).toBe("nosniff");
      expect(headers.get("Referrer-Policy"), path).toBe("no-referrer");
    }
  });

  it("are served at their own paths, all other paths by the Worker", async ({ expect }) => {
    expect(await (await get("/docs/nothing")).json()).toMatchObject({ code: "not_found" });
    expect((await get("/docs/")).headers.get("Location")).toBe("/docs");
    expect(await (await get("/")).text()).toContain('<a href="/docs">');
    expect((await get("/openapi.json")).headers.get("X-Request-Id")).toBeTruthy();
    expect((await get("/_headers")).status).toBe(404);
    const licenses = await (await get("/docs/licenses.txt")).text();
    for (const name of ["preact", "minisearch", "uplot"]) expect(licenses).toContain(`${name}\n\n`);
  });

  it("are small: some 46 kB compressed", async ({ expect }) => {
    const sizes = await Promise.all(
      ["/docs", "/docs/page.js", "/docs/page.css", "/docs/icon.svg"].map(
        async (path) => gzipSync(await (await get(path)).bytes()).byteLength,
      ),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_PAGE_BYTES);
  });
});

describe.skipIf(executablePath === undefined)("the documentation page on a phone", () => {
  it("shows the quick start, the plans and every operation, and lists the orders with a key", async ({
    expect,
  }) => {
    const { key } = await service.createKey({ plan: "free" });
    const { page, problems, requested } = await openDocs(browser, service, "phone");
    expect(await page.locator("h1").textContent()).toBe("Store Orders");
    expect(await page.locator("h2").first().textContent()).toBe("Quick start");
    expect(await page.locator(".operation h3").allTextContents()).toEqual([
      "List all orders",
      "Cancel an order",
      "Look up a pet",
    ]);
    expect(await page.getByRole("row", { name: "Business 1000 100000" }).count()).toBe(1);
    expect(await page.getByRole("row", { name: `Local ${new URL("/v1", service.url).href}` }).count()).toBe(
      1,
    );
    expect(await page.locator("#getPet .badge").allTextContents()).toEqual([
      "deprecated, gone from 2030-12-05 on",
      "experimental",
    ]);

    const panel = panelOf(page, "List all orders");
    await panel.getByLabel("API key", { exact: true }).fill(key);
    await panel.getByRole("button", { name: "Send request" }).click();
    await panel.getByRole("row", { name: "X-RateLimit-Remaining 59" }).waitFor();
    expect(await panel.locator("label.left").textContent()).toMatch(/^59 of 60 requests left until/);
    expect(await panel.locator(".body").textContent()).toContain('"id": 9223372036854775807');

    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(SCREENS.phone.width);
    expect(await axeViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
    expect(requested.filter((url) => new URL(url).origin !== new URL(service.url).origin)).toEqual([]);
    await page.close();
  });
});
