/** The documentation page in a browser, against the running service. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { CLIENT_ERRORS } from "../../src/worker/platform/error-codes.ts";
import { type Browser, openBrowser, SCREENS } from "../support/browser.ts";
import { signInTo, submit } from "../support/console.ts";
import { openService, type Service } from "../support/service.ts";

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await openService();
  browser = await openBrowser();
  await service.db
    .prepare(
      "insert into orders (id, pet_id, quantity, ship_date, complete, status) values (1, 7, 2, null, 0, 'pending'), (2, 9, 1, null, 0, 'shipped')",
    )
    .run();
});

afterAll(() => browser.close());

const get = (path: string) => fetch(new URL(path, service.url), { redirect: "manual" });
const addressOf = (path: string) => new URL(path, service.url).href;

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
    const [scalar = ""] = /\/docs\/scalar-\w+\.js/.exec(await (await get("/docs/try")).text()) ?? [];
    const types = { "/docs/try": "text/html", [scalar]: "text/javascript" };
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

describe("the page that sends calls", () => {
  it("lists, cancels and meets a 429, and sends no request to another host", async ({ expect }) => {
    const { key } = await service.createKey({ perMinute: 3, perDay: 3 });
    const { page, problems, requested } = await browser.open(addressOf("/docs/try"), "desk");
    await page.getByRole("heading", { name: "Store Orders" }).waitFor();
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
});

describe("the documentation page", () => {
  it("has its text and its programs without scripts, and opens at an error's row", async ({ expect }) => {
    const answer = await get("/v1/store/orders");
    const [, address = ""] = /^<(.+)>; rel="help"$/.exec(answer.headers.get("Link") ?? "") ?? [];
    const { page } = await browser.open(addressOf(address), "desk", { hasScripts: false });
    const row = page.locator("tr:has(:target)");
    expect(await row.textContent()).toContain("unauthorized");
    expect((await row.boundingBox())?.y ?? -1).toBeLessThan(200);
    for (const code of Object.keys(CLIENT_ERRORS))
      expect(await page.locator(`td [id="${code}"]`).count(), code).toBe(1);
    expect(await page.locator(".program").filter({ visible: true }).textContent()).toContain("curl");
    await page.getByText("Python with urllib3").click();
    expect(await page.locator(".program").filter({ visible: true }).textContent()).toContain("import os");
    await page.close();
  });

  it("loads at most 150 kB, finds errors and sections, copies, and keeps the language", async ({
    expect,
  }) => {
    const { page, problems, requested } = await browser.open(addressOf("/docs"), "desk");
    const sizes = await Promise.all(requested.map(async (url) => (await (await fetch(url)).bytes()).length));
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(150_000);
    await page.getByLabel("Search").fill("429");
    const found = await page.getByRole("navigation").getByRole("link").allTextContents();
    expect(found).toEqual(expect.arrayContaining(["Rate limits", "Bans", "key_banned"]));
    expect(found).not.toContain("Conventions");
    await page.getByLabel("Search").fill("");
    await page.getByRole("link", { name: "Conventions" }).waitFor();

    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy" }).first().click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^curl --fail/);
    await page.getByText("JavaScript with ky").click();
    await page.reload();
    expect(await page.getByLabel("JavaScript with ky").isChecked()).toBe(true);
    expect(problems).toEqual([]);
    await page.close();
  });

  it("fits a phone, in the light and in the dark scheme", async ({ expect }) => {
    const { page, problems } = await browser.open(addressOf("/docs"), "phone");
    const colours = new Set<string>();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(SCREENS.phone.width);
      colours.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
    expect(colours.size).toBe(2);
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe("the reference of the admin API", () => {
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
