/** The console in a browser: its fields keep what is typed as soon as the page is shown, also on a busy machine. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { headingAt, openConsole, pathOf } from "../support/console.ts";
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

/** More than everything that follows the painting of a page takes. */
const SETTLED_MS = 300;

/** Follows a link and types in a field before the page of the link is painted. Returns what the field contains a moment later. */
async function typeBeforePaint(page: Page, link: string, label: string): Promise<unknown> {
  await page.getByLabel(label, { exact: true }).waitFor();
  return await page.evaluate(`(async () => {
    const isLabel = ({ textContent }) => textContent === "${label}";
    const field = [...document.querySelectorAll("main label")].find(isLabel).control;
    document.querySelector("nav a[href='${link}']").click();
    for (let i = 0; i < 50; i++) await Promise.resolve();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, "20");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await new Promise((settled) => setTimeout(settled, ${SETTLED_MS}));
    return field.value;
  })()`);
}

/** Follows a link and goes to a field before the page of the link is painted. Returns what has the focus a moment later. */
function goToFieldBeforePaint(page: Page, link: string, field: string): Promise<unknown> {
  return page.evaluate(`(async () => {
    document.querySelector("nav a[href='${link}']").click();
    for (let i = 0; i < 50; i++) await Promise.resolve();
    document.querySelector("${field}").focus();
    await new Promise((settled) => setTimeout(settled, ${SETTLED_MS}));
    return document.activeElement.matches("${field}");
  })()`);
}

/** Presses the key / as soon as the page has a search field, before it is painted. */
const PRESS_SLASH = `new MutationObserver((_, observer) => {
  if (!document.querySelector(".search input")) return;
  observer.disconnect();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }));
}).observe(document, { childList: true, subtree: true })`;

const FILTERS = [
  { path: "/console/keys", search: "?search=beta", label: "Name, owner, id or secret" },
  { path: "/console/orders", search: "?petId=7", label: "Pet id" },
  { path: "/console/audit", search: "?actor=nobody", label: "Who" },
] as const;

describe.skipIf(executablePath === undefined)("a field of the console", () => {
  for (const { path, search, label } of FILTERS)
    it(`keeps what is typed at once after a link: ${label}`, async ({ expect }) => {
      const { page } = await openConsole(browser, service, path + search);
      expect(await typeBeforePaint(page, path, label)).toBe("20");
      expect(pathOf(page)).toBe(path);
      await page.close();
    });

  it("keeps the focus that it gets at once after a link", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console");
    await headingAt(page, "Overview");
    expect(await goToFieldBeforePaint(page, "/console/keys", "main input")).toBe(true);
    await page.close();
  });

  it("gets the focus by / as soon as it is shown", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console");
    await page.addInitScript(PRESS_SLASH);
    await page.goto(new URL("/console/plans", service.url).href);
    await headingAt(page, "Plans");
    expect(await page.evaluate("document.activeElement.matches('.search input')")).toBe(true);
    await page.close();
  });
});
