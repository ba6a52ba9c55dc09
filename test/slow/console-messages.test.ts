/** The messages at the bottom of the console in a browser: when they are added, which a screen reader says, and what they cover. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { confirm, openConsole } from "../support/console.ts";
import { openService, type Service } from "../support/service.ts";

const executablePath = findBrowser();

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await openService();
  if (executablePath !== undefined) browser = await openBrowser(executablePath);
});

afterAll(async () => {
  await browser?.close();
});

/** From now on, whether a modal dialog was open when a message was added: the rest of the page is inert then. */
async function watchMessages(page: Page): Promise<() => Promise<boolean[]>> {
  await page.evaluate(`
    window.wasInert = [];
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const _ of addedNodes) wasInert.push(document.querySelector("dialog:modal") !== null);
    }).observe(document.querySelector(".toast"), { childList: true })`);
  return () => page.evaluate<boolean[]>("wasInert");
}

describe.skipIf(executablePath === undefined)("a message", () => {
  it("of a dialog's result is added when the dialog is closed, also after a slow reload", async ({
    expect,
  }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    const wasInert = await watchMessages(page);
    await page.clock.install();
    for (const action of ["Disable", "Rotate", "Revoke"]) {
      await page.getByRole("button", { name: `${action}…` }).click();
      await page.getByRole("dialog").waitFor();
      const { promise: isOver, resolve: answer } = Promise.withResolvers<void>();
      let isMade = false;
      await page.route("**/admin/keys/**", async (route) => {
        if (route.request().method() !== "GET") isMade = true;
        else if (isMade) await isOver;
        await route.fallback();
      });
      const reload = page.waitForRequest((request) => isMade && request.method() === "GET");
      await confirm(page);
      await reload;
      await page.clock.runFor(9_000);
      expect(await page.locator(".toast p").count()).toBe(0);
      answer();
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      await page.locator(".toast").getByText(", effective immediately.").waitFor();
      await page.unroute("**/admin/keys/**");
      await page.clock.runFor(8_000);
      expect(await page.locator(".toast p").count()).toBe(0);
    }
    expect(await wasInert()).toEqual([false, false, false]);
    await page.close();
  });

  it("of a change whose page was left is added when the dialog of another page is closed or left", async ({
    expect,
  }) => {
    const leaveBy = [(page: Page) => page.keyboard.press("Escape"), (page: Page) => page.goBack()];
    for (const leave of leaveBy) {
      const { page } = await openConsole(browser, service, "/console/keys/new");
      const wasInert = await watchMessages(page);
      const { promise: isOver, resolve: answer } = Promise.withResolvers<void>();
      await page.route("**/admin/keys", async (route) => {
        await isOver;
        await route.fulfill({ status: 503, json: {} });
      });
      await page.getByLabel("Name", { exact: true }).fill("left");
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByRole("link", { name: "Bans", exact: true }).click();
      await page.getByRole("button", { name: "Ban a key…" }).click();
      await page.getByRole("dialog").waitFor();
      const answered = page.waitForResponse("**/admin/keys");
      answer();
      await (await answered).finished();
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
      const said = page.locator(".toast").getByText("Create key left: The service is not available");
      expect(await said.count()).toBe(0);
      await leave(page);
      await said.waitFor();
      expect(await wasInert()).toEqual([false]);
      await page.close();
    }
  });
});

describe.skipIf(executablePath === undefined)("long messages on a phone", () => {
  it("leave the button of the sign-in free, once it is scrolled to", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/keys/new", "phone");
    const { promise: isOver, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/admin/keys", async (route) => {
      if (route.request().method() === "GET") return route.fallback();
      await isOver;
      await route.fulfill({ status: 500, json: {} });
    });
    for (let i = 0; i < 4; i++) {
      await page.getByLabel("Name", { exact: true }).fill("W".repeat(60));
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByRole("link", { name: "All keys" }).click();
      await page.getByRole("link", { name: "Create key" }).click();
    }
    answer();
    await page.locator(".toast p").nth(3).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    const signIn = page.getByRole("button", { name: "Sign in", exact: true });
    // Scrolls to it, and throws if something covers it.
    await signIn.click({ trial: true, timeout: 5_000 });
    for (let i = 0; i < 4; i++) await page.getByRole("button", { name: "Dismiss" }).first().click();
    expect(await page.evaluate("document.documentElement.scrollHeight - innerHeight")).toBe(0);
    await page.close();
  });
});
