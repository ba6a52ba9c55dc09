/** The documentation page in a browser, against the running service. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { CLIENT_ERRORS } from "../../src/worker/platform/error-codes.ts";
import { type Browser, findBrowser, openBrowser, SCREENS } from "../support/browser.ts";
import { signInTo, submit } from "../support/console.ts";
import { openService, type Service } from "../support/service.ts";

const executablePath = findBrowser();

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await openService();
  if (executablePath !== undefined) browser = await openBrowser(executablePath);
  await service.db
    .prepare(
      "insert into orders (id, pet_id, quantity, ship_date, complete, status) values (1, 7, 2, null, 0, 'pending'), (2, 9, 1, null, 0, 'shipped')",
    )
    .run();
});

afterAll(async () => {
  await browser?.close();
});

const get = (path: string) => fetch(new URL(path, service.url), { redirect: "manual" });
const addressOfDocs = () => new URL("/docs", service.url).href;

/** Opens the panel that sends requests of an operation. */
async function openPanel(page: Page, summary: string, request: RegExp): Promise<Locator> {
  await page.getByRole("link", { name: summary }).first().click();
  await page.getByRole("button", { name: request }).click();
  const panel = page.getByRole("dialog");
  await panel.waitFor();
  return panel;
}

/** Sends the panel's request, and waits for an answer with this status. */
async function send(panel: Locator, status: string): Promise<void> {
  await panel.getByRole("button", { name: /^Send/ }).first().click();
  await panel.getByText(status).first().waitFor();
}

describe("the files of the documentation page", () => {
  it("have a policy that allows scripts and requests of their own origin only", async ({ expect }) => {
    const [scalar = ""] = /\/docs\/scalar-\w+\.js/.exec(await (await get("/docs")).text()) ?? [];
    const types = { "/docs": "text/html", [scalar]: "text/javascript" };
    for (const [path, type] of Object.entries(types)) {
      const { status, headers } = await get(path);
      expect(status, path).toBe(200);
      expect(headers.get("Content-Type"), path).toContain(type);
      const policy = headers.get("Content-Security-Policy");
      for (const part of ["default-src 'none'", "script-src 'self';", "connect-src 'self';"])
        expect(policy, path).toContain(part);
    }
    // The name of Scalar's script changes with its content.
    expect((await get(scalar)).headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
  });

  it("are served at their own paths, all other paths by the Worker", async ({ expect }) => {
    expect(await (await get("/docs/nothing")).json()).toMatchObject({ code: "not_found" });
    expect((await get("/docs/")).headers.get("Location")).toBe("/docs");
    expect(await (await get("/")).text()).toContain('<a href="/docs">');
    expect((await get("/_headers")).status).toBe(404);
  });
});

describe.skipIf(executablePath === undefined)("the documentation page", () => {
  it("lists, cancels and meets a 429, and sends no request to another host", async ({ expect }) => {
    const { key } = await service.createKey({ perMinute: 3, perDay: 3 });
    const { page, problems, requested } = await browser.open(addressOfDocs(), "desk");
    await page.getByRole("heading", { name: "First call" }).waitFor();
    await page.getByPlaceholder("Token").first().fill(key);

    const list = await openPanel(page, "List all orders", /Test Request.*get/);
    await send(list, "200 OK");
    await list.getByText('"petId": 7').waitFor();
    await page.keyboard.press("Escape");

    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void (asked.length === 1 ? dialog.dismiss() : dialog.accept());
    });
    const cancel = await openPanel(page, "Cancel an order", /Test Request.*delete/);
    await cancel.getByRole("button", { name: /^Send/ }).first().click();
    await expect.poll(() => asked).toEqual([expect.stringContaining("DELETE")]);
    // The first order in the list is not what the page proposes to cancel.
    await send(cancel, "404 Not Found");
    expect(await service.db.prepare("select count(*) as n from orders").first("n")).toBe(2);
    const id = cancel.locator("[contenteditable=true]", { hasText: String(Number.MAX_SAFE_INTEGER) });
    await id.fill("1");
    await send(cancel, "204 No Content");
    expect(await service.db.prepare("select count(*) as n from orders").first("n")).toBe(1);
    await send(cancel, "429 Too Many Requests");
    await cancel.getByText("rate_limit_exceeded").waitFor();

    expect(asked).toHaveLength(4);
    expect(problems).toEqual(
      ["Not sent.", "with a status of 404", "with a status of 429"].map((part) =>
        expect.stringContaining(part),
      ),
    );
    const hosts = new Set(
      requested.filter((url) => !url.startsWith("data:")).map((url) => new URL(url).host),
    );
    expect([...hosts]).toEqual([new URL(service.url).host]);
    expect(requested.filter((url) => url.includes(key))).toEqual([]);
    await page.close();
  });

  it("opens at the row of an error that the error's Link names", async ({ expect }) => {
    const response = await get("/v1/store/orders");
    const [, address = ""] = /^<(.+)>; rel="help"$/.exec(response.headers.get("Link") ?? "") ?? [];
    const { page } = await browser.open(new URL(address, service.url).href, "desk");
    const row = page.locator("tr:has(:target)");
    await row.waitFor();
    expect(await row.textContent()).toContain("unauthorized");
    await expect.poll(async () => (await row.boundingBox())?.y ?? -1).toBeLessThan(200);
    for (const code of Object.keys(CLIENT_ERRORS))
      expect(await page.locator(`td [id="${code}"]`).count(), code).toBe(1);
    await page.close();
  });

  it("begins with an open introduction, and shows nothing of its maker", async ({ expect }) => {
    const { page } = await browser.open(addressOfDocs(), "desk");
    await page.getByRole("link", { name: "Rate limits" }).first().waitFor();
    expect(await page.getByText("Client Libraries").count()).toBe(0);
    expect(await page.getByText("Powered by").filter({ visible: true }).count()).toBe(0);
    await page.close();
  });

  it("fits a phone, in the light and in the dark scheme", async ({ expect }) => {
    const { page, problems } = await browser.open(addressOfDocs(), "phone");
    const colours = new Set<string>();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.reload();
      await page.getByRole("heading", { name: "First call" }).waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(SCREENS.phone.width);
      colours.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
    expect(colours.size).toBe(2);
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the reference of the admin API", () => {
  it("is shown to who signs in from its page, and fits a phone", async ({ expect }) => {
    const opened = await browser.open(new URL("/docs/admin", service.url).href, "phone");
    await submit(opened.page, opened.page.getByRole("link", { name: "sign in" }));
    expect(await opened.page.getByLabel("Admin token").isVisible()).toBe(true);
    await opened.page.close();

    const { page, problems } = await signInTo(browser, service, "/console/reference", { screen: "phone" });
    expect(new URL(page.url()).pathname).toBe("/docs/admin");
    await page.getByRole("heading", { name: "Store Orders: admin API" }).waitFor();
    expect(await page.getByText("API keys, their secrets and limits.").count()).toBeGreaterThan(0);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(SCREENS.phone.width);
    expect(problems).toEqual([]);
    await page.close();
  });
});
