/** The documentation page as a reader uses it: quick start, search, contents, keyboard, on a desktop and on a phone. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { SEARCH_KEYWORDS } from "../../src/pages/docs/search-keywords.ts";
import { axeViolations } from "../support/axe.ts";
import { type Browser, findBrowser, openBrowser, SCREENS } from "../support/browser.ts";
import { insertOrders, openDocs, type Screen } from "../support/docs-page.ts";
import { type ProgramKind, requirePrograms, runExampleProgram } from "../support/programs.ts";
import { type Service, startService } from "../support/service.ts";
import { readText } from "../support/sources.ts";

const executablePath = findBrowser();
const CONTACT = "orders@example.com";
/** The folder for screenshots. Without it, none are taken. */
const shots = process.env.SCREENSHOTS;

let service: Service;
let browser: Browser;

beforeAll(async () => {
  if (executablePath === undefined) return;
  service = await startService({ SUPPORT_CONTACT: CONTACT });
  browser = await openBrowser(executablePath);
  await insertOrders(service);
});

afterAll(async () => {
  await browser?.close();
  await service?.close();
});

const focused = (page: Page) => page.evaluate<string>("document.activeElement.id");
const hashOf = (page: Page) => new URL(page.url()).hash;

for (const screen of Object.keys(SCREENS) as Screen[]) {
  describe.skipIf(executablePath === undefined)(`the layout on a ${screen}`, () => {
    it("is no wider than the screen, has large inputs and every error code, and axe finds nothing", async ({
      expect,
    }) => {
      const { page, problems } = await openDocs(browser, service, screen);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const rules = colorScheme === "dark" ? ["color-contrast"] : [];
        // On a phone, the colours are the same, and test/e2e runs the other rules.
        if (screen === "desk") expect(await axeViolations(page, rules)).toEqual([]);
        if (shots)
          await page.screenshot({ path: `${shots}/docs-${screen}-${colorScheme}.png`, fullPage: true });
      }
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(SCREENS[screen].width);
      const sizes = "[...document.querySelectorAll('input')].map((each) => getComputedStyle(each).fontSize)";
      expect(new Set(await page.evaluate<string[]>(sizes))).toEqual(new Set(["16px"]));
      expect(await page.locator("a[href='/openapi.json']").isVisible()).toBe(true);
      // Every code of a status is visible without a click.
      const conflict = page.locator("#cancelOrder .response", { hasText: "409" });
      expect(await conflict.getByText("order_already_shipped").first().isVisible()).toBe(true);
      expect(await conflict.getByText("order_not_cancellable").first().isVisible()).toBe(true);
      if (screen === "phone") {
        const curlLines =
          "[...document.querySelectorAll('.try-it .code, #first-request .code, #generate-a-client .code')]";
        // A long address, as a deployed service has.
        const isWhole = `${curlLines}.every((each) => {
          each.firstChild.append(" https://" + "a".repeat(100));
          return each.scrollWidth <= each.clientWidth;
        })`;
        expect(await page.evaluate(isWhole)).toBe(true);
      }
      expect(problems).toEqual([]);
      await page.close();
    });
  });
}

describe.skipIf(executablePath === undefined)("the quick start", () => {
  it("says whom to ask for a key, and remembers the chosen language", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "phone");
    expect(await page.getByRole("link", { name: CONTACT }).getAttribute("href")).toBe(`mailto:${CONTACT}`);
    const selected = () => page.locator("[role=tab][aria-selected=true]").allTextContents();
    expect(await selected()).toEqual(["curl", "curl", "hey-api"]);
    await page.getByRole("tab", { name: "curl" }).first().focus();
    await page.keyboard.press("ArrowLeft");
    expect(await selected()).toEqual(["Python", "Python", "hey-api"]);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Python");
    await page.reload();
    await page.locator("#listOrders").waitFor();
    expect(await selected()).toEqual(["Python", "Python", "hey-api"]);
    await page.evaluate("localStorage.clear()");
    await page.close();
  });

  it("shows the programs of src/pages/docs/examples, which run as they are copied", async ({ expect }) => {
    requirePrograms();
    const { page } = await openDocs(browser, service, "desk");
    const origin = new URL(service.url).origin;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin });
    const { key } = await service.createKey();
    for (const [language, kind, orderId] of [
      ["curl", "sh", "10"],
      ["JavaScript", "mjs", "11"],
      ["Python", "py", "12"],
    ] as const satisfies (readonly [string, ProgramKind, string])[]) {
      await page.getByRole("tab", { name: language }).first().click();
      const copied = async (label: string, name: string) => {
        await page.getByRole("button", { name: `Copy the program: ${label}, ${language}` }).click();
        const text = await page.evaluate<string>("navigator.clipboard.readText()");
        const file = readText(`src/pages/docs/examples/${name}.${kind}`);
        expect(text).toBe(file.replaceAll("http://localhost:8787", origin));
        const shown = page.getByRole("tabpanel", { name: language }).locator("pre:visible");
        expect(await shown.allTextContents()).toContain(text.trimEnd());
        return text;
      };
      const first = await runExampleProgram(kind, await copied("The first request", "list"), { key });
      expect(first).toMatchObject({ code: 0, out: expect.stringContaining('"id":9223372036854775807') });
      const program = await copied("Programs that wait", "orders");
      expect(await runExampleProgram(kind, program, { key })).toMatchObject({
        code: 0,
        err: expect.stringMatching(/^\d+ requests remain\.\n$/),
      });
      const cancelled = await runExampleProgram(kind, program, { key, args: [orderId] });
      expect(cancelled.out).toContain(`Order ${orderId} is cancelled.`);
    }
    for (const tool of ["hey-api", "orval", "swagger-typescript-api"]) {
      await page.getByRole("tab", { name: tool, exact: true }).click();
      const shown = page.getByRole("tabpanel", { name: tool, exact: true }).locator("pre");
      const file = readText(`src/pages/docs/examples/clients/${tool}.sh`);
      expect(await shown.textContent()).toBe(file.replaceAll("http://localhost:8787", origin).trimEnd());
    }
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the search", () => {
  it("leads from what people type to the right place", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "desk");
    const missing = `${JSON.stringify(Object.keys(SEARCH_KEYWORDS))}.filter((id) => !document.getElementById(id)?.dataset.search)`;
    expect(await page.evaluate(missing)).toEqual([]);
    const search = page.getByRole("combobox", { name: "Search the documentation" });
    const found: Record<string, string> = {};
    for (const query of Object.keys(PLACES)) {
      await search.fill(query);
      await search.press("Enter");
      found[query] = hashOf(page).slice(1);
    }
    expect(found).toEqual(PLACES);
    await page.close();
  });

  it("is a combobox: arrow keys choose, Enter goes there, the number of results is announced", async ({
    expect,
  }) => {
    const { page } = await openDocs(browser, service, "phone", "#operations");
    const scrolled = await page.evaluate<number>("scrollY");
    expect(scrolled).toBeGreaterThan(1_000);
    const search = page.getByRole("combobox");
    await page.keyboard.press("Control+/");
    expect(await search.evaluate((element) => element.matches(":focus"))).toBe(false);
    await page.keyboard.press("/");
    expect(await search.evaluate((element) => element.matches(":focus"))).toBe(true);
    await page.keyboard.type("retry");
    const options = page.getByRole("option");
    await options.first().waitFor();
    expect(await search.getAttribute("aria-expanded")).toBe("true");
    await page
      .getByRole("status")
      .getByText(`${await options.count()} results`)
      .waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    // The list scrolls, the page does not.
    expect(await page.evaluate("scrollY")).toBe(scrolled);
    const chosen = page.locator("[role=option][aria-selected=true]");
    expect(await chosen.count()).toBe(1);
    expect(await search.getAttribute("aria-activedescendant")).toBe(await chosen.getAttribute("id"));
    expect(await axeViolations(page)).toEqual([]);
    const title = await chosen.locator("strong").textContent();
    // The Enter of an input method, which ends the composition of a word.
    await search.dispatchEvent("keydown", { key: "Enter", isComposing: true });
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect(await chosen.count()).toBe(1);
    await page.keyboard.press("Enter");
    expect(await options.count()).toBe(0);
    const target = page.locator(`[id="${hashOf(page).slice(1)}"].found`);
    expect(await target.getAttribute("data-search")).toBe(title);
    expect(await target.evaluate((element) => element.matches(":focus"))).toBe(true);
    const box = await target.boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeLessThan(SCREENS.phone.height);

    await search.fill("quinquireme");
    await page.getByRole("status").getByText("Nothing found").waitFor();
    await page.keyboard.press("Escape");
    expect(await page.getByText("Nothing found").count()).toBe(0);
    expect(await search.inputValue()).toBe("quinquireme");
    await page.close();
  });
});

/** The address of the first result for a query. */
const PLACES: Readonly<Record<string, string>> = {
  pagination: "listOrders",
  filter: "listOrders",
  paginaton: "listOrders",
  ban: "bans",
  banned: "errors-key-banned",
  blocked: "bans",
  key_banned: "errors-key-banned",
  curl: "first-request",
  python: "first-request",
  throttle: "over-the-limit",
  "rate limit": "rate-limits",
  token: "authentication",
  bearer: "authentication",
  delete: "cancelOrder",
  cancel: "cancelOrder",
  remove: "cancelOrder",
  "how to cancel an order": "cancelOrder",
  "retry-after": "header-retry-after",
  backoff: "over-the-limit",
  429: "wait-after-a-429",
  etag: "header-etag",
  caching: "header-etag",
  swagger: "openapi-document",
  openapi: "openapi-document",
  timezone: "conventions",
  price: "rate-limits",
  "not found": "errors-not-found",
  contact: "get-a-key",
  cors: "conventions",
  browser: "conventions",
  403: "authentication",
  timeout: "over-the-limit",
  burst: "rate-limits",
  typescript: "generate-a-client",
  sdk: "generate-a-client",
  tutorial: "first-request",
  idempotent: "cancelOrder",
  webhook: "listOrders",
  "base url": "openapi-document",
};

describe.skipIf(executablePath === undefined)("the contents", () => {
  it("mark the current place, and the first Tab leads past them", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "desk", "#errors");
    const current = page.locator("#contents [aria-current=location]");
    await current.getByText("Errors", { exact: true }).waitFor();
    for (const name of ["Bans", "Cancel an order", "Error", "1. Get a key"]) {
      await page.locator("#contents").getByRole("link", { name, exact: false }).last().click();
      await current.getByText(name).waitFor();
      expect(await current.count()).toBe(1);
    }
    await page.evaluate("history.replaceState(null, '', '/docs')");
    await page.reload();
    await page.locator("#listOrders").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("top");
    await page.close();
  });

  it("are behind a button on a phone", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "phone");
    const contents = page.getByRole("navigation", { name: "Contents" });
    expect(await contents.count()).toBe(0);
    const button = page.getByRole("button", { name: "Contents" });
    await button.click();
    expect(await axeViolations(page)).toEqual([]);
    await contents.getByRole("link", { name: "Bans" }).click();
    expect(hashOf(page)).toBe("#bans");
    expect(await contents.count()).toBe(0);
    await button.click();
    await page.keyboard.press("Escape");
    expect(await contents.count()).toBe(0);
    await page.close();
  });
});
