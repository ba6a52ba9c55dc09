/** The documentation page in a browser, at the width of a desktop and of a phone, against the running service. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, findBrowser, openBrowser, SCREENS } from "../support/browser.ts";
import { openService, type Service } from "../support/service.ts";

const executablePath = findBrowser();

let service: Service;
let browser: Browser;
/** The folder for screenshots. Without it, none are taken. */
const shots = process.env.SCREENSHOTS;

beforeAll(async () => {
  service = await openService();
  if (executablePath !== undefined) browser = await openBrowser(executablePath);
  await service.db.batch(
    Array.from({ length: 40 }, (_, i) =>
      service.db
        .prepare(
          "insert into orders (id, pet_id, quantity, ship_date, complete, status) values (?, ?, 1, ?, 0, ?)",
        )
        .bind(
          i === 39 ? "9223372036854775807" : String(i + 1),
          i + 3,
          "2026-11-24T09:00:00.000Z",
          i === 1 ? "shipped" : "pending",
        ),
    ),
  );
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
  });

  it("are small: some 28 kB compressed", async ({ expect }) => {
    const sizes = await Promise.all(
      ["/docs", "/docs/page.js", "/docs/page.css", "/docs/icon.svg"].map(
        async (path) => gzipSync(await (await get(path)).bytes()).byteLength,
      ),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(30_000);
  });
});

for (const screen of Object.keys(SCREENS) as (keyof typeof SCREENS)[]) {
  describe.skipIf(executablePath === undefined)(`the documentation page on a ${screen}`, () => {
    const openDocs = async () => {
      const watched = await browser.open(new URL("/docs", service.url).href, screen);
      await watched.page.locator("#listOrders").waitFor();
      return watched;
    };
    const shoot = async (
      page: Awaited<ReturnType<typeof openDocs>>["page"],
      name: string,
      fullPage = false,
    ) => {
      if (shots) await page.screenshot({ path: `${shots}/${name}-${screen}.png`, fullPage });
    };

    it("shows the introduction, the plans and every operation, no wider than the screen", async ({
      expect,
    }) => {
      const { page } = await openDocs();
      expect(await page.locator("h1").textContent()).toBe("Store Orders");
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
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(SCREENS[screen].width);
      await shoot(page, "docs", true);
      // On a phone, the page has the same elements and colours.
      if (screen === "desk") {
        expect(await axeViolations(page)).toEqual([]);
        await page.emulateMedia({ colorScheme: "dark" });
        expect(await axeViolations(page, ["color-contrast"])).toEqual([]);
      }
      await page.close();
    });

    it("lists the orders with a pasted key and shows the limit counting down", async ({ expect }) => {
      const { key } = await service.createKey({ plan: "free" });
      const { page } = await openDocs();
      const panel = page.getByRole("form", { name: "Try it: List all orders" });
      await panel.getByLabel("API key").fill(key);
      const seen: string[] = [];
      for (const remaining of ["59", "58"]) {
        await panel.getByRole("button", { name: "Send request" }).click();
        await panel.getByRole("row", { name: `X-RateLimit-Remaining ${remaining}` }).waitFor();
        seen.push((await panel.locator("label.left").textContent()) ?? "");
      }
      expect(seen[0]).toMatch(/^59 of 60 requests left until/);
      expect(seen[1]).toMatch(/^58 of 60 requests left until/);
      expect(await panel.locator(".result .status").textContent()).toBe("200");
      expect(await panel.locator(".body").textContent()).toContain('"id": 9223372036854775807');
      await panel.scrollIntoViewIfNeeded();
      await shoot(page, "try-it");
      await page.close();
    });

    it("cancels an order, and shows why another one cannot be cancelled", async ({ expect }) => {
      const { key } = await service.createKey();
      const { page } = await openDocs();
      const panel = page.getByRole("form", { name: "Try it: Cancel an order" });
      await panel.getByLabel("API key").fill(key);
      const call = async (orderId: string) => {
        await panel.getByLabel("orderId").fill(orderId);
        await panel.getByRole("button", { name: "Send request" }).click();
        await panel.locator("[type=submit]:enabled").waitFor();
        return panel.locator(".result").textContent();
      };
      expect(await call(screen === "desk" ? "10" : "11")).toMatch(/^204/);
      expect(await call("2")).toContain("order_already_shipped");
      await page.close();
    });

    it("finds an error code, a header and an operation, and moves the focus there", async ({ expect }) => {
      const { page } = await openDocs();
      const search = page.getByRole("searchbox");
      for (const [query, target] of [
        ["key_banned", "tr[data-search='key_banned']"],
        ["retry-after", "#header-retry-after"],
        ["cancel", "#cancelOrder"],
      ] as const) {
        await search.fill(query);
        await search.press("Enter");
        await page.locator(`${target}.found`).waitFor();
        expect(await page.locator(target).evaluate((element) => element.matches(":focus"))).toBe(true);
        const box = await page.locator(target).boundingBox();
        expect(box?.y).toBeGreaterThanOrEqual(0);
        expect(box?.y).toBeLessThan(SCREENS[screen].height);
      }
      await search.fill("ban");
      await shoot(page, "search");
      await search.fill("quinquireme");
      expect(await page.locator(".results").textContent()).toBe("Nothing found");
      await page.close();
    });

    it("shows that the key is refused, and that the service cannot be reached", async ({ expect }) => {
      const { page } = await openDocs();
      const panel = page.getByRole("form", { name: "Try it: List all orders" });
      await panel.getByLabel("API key").fill("sok_wrong");
      await panel.getByRole("button", { name: "Send request" }).click();
      await panel.getByText('Bearer realm="store-orders", error="invalid_token"').waitFor();
      await page.route("**/v1/**", (route) => route.abort());
      await panel.getByRole("button", { name: "Send request" }).click();
      await panel.getByText("No answer: ").waitFor();
      expect(await panel.locator(".result").textContent()).toContain("No answer");
      await page.close();
    });

    it("sends requests to the service only, logs no errors, and does not store the key", async ({
      expect,
    }) => {
      const { key } = await service.createKey();
      const { page, problems, requested } = await openDocs();
      const panel = page.getByRole("form", { name: "Try it: List all orders" });
      await panel.getByLabel("API key").fill(key);
      await panel.getByRole("button", { name: "Send request" }).click();
      await panel.locator(".body").waitFor();
      await page.waitForLoadState("networkidle");
      expect(problems).toEqual([]);
      expect(requested.length).toBeGreaterThan(3);
      expect(requested.filter((url) => new URL(url).origin !== new URL(service.url).origin)).toEqual([]);
      expect(requested.filter((url) => url.includes(key))).toEqual([]);
      const stored =
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])";
      expect(await page.evaluate(stored)).not.toContain(key);
      await page.close();
    });
  });
}
