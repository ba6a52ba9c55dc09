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

/** Whether the dialog is open as soon as it is in the document, so that no other field can take what is typed. */
const WATCH_DIALOG = `new MutationObserver(() => {
  const dialog = document.querySelector("dialog");
  if (dialog) globalThis.wasOpen ??= dialog.open;
}).observe(document, { childList: true, subtree: true })`;

describe.skipIf(executablePath === undefined)("a dialog of the console", () => {
  for (const name of ["Edit…", "Rotate…"])
    it(`is open as soon as it is shown: ${name}`, async ({ expect }) => {
      const { id } = await service.createKey();
      const { page } = await openConsole(browser, service, `/console/keys/${id}`);
      await page.evaluate(WATCH_DIALOG);
      await page.getByRole("button", { name }).click();
      await page.getByRole("dialog").waitFor();
      expect(await page.evaluate("globalThis.wasOpen")).toBe(true);
      await page.close();
    });
});

describe.skipIf(executablePath === undefined)("the results of a search", () => {
  it("have no choice left of the results before", async ({ expect }) => {
    for (const name of ["Zeta one", "Zeta two", "Zetab"]) {
      await service.admin("POST", "/keys", { name, plan: "free" });
    }
    const { page } = await openConsole(browser, service, "/console/plans");
    await headingAt(page, "Plans");
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/admin/keys?*search=Zetab*", async (route) => {
      await answered;
      await route.continue();
    });
    const options = page.getByRole("listbox", { name: "Results" }).getByRole("option");
    await page.getByLabel("Search keys").pressSequentially("Zeta");
    await options.nth(2).waitFor();
    await page.keyboard.press("b");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    answer();
    await expect.poll(() => options.count()).toBe(1);
    expect(await page.getByLabel("Search keys").getAttribute("aria-activedescendant")).toBeNull();
    expect(await options.first().getAttribute("aria-selected")).toBe("false");
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("what colleagues do and what ends meanwhile", () => {
  it("is on the pages of bans and of a key after a refresh", async ({ expect }) => {
    const { id } = await service.createKey();
    await service.admin("PUT", `/keys/${id}/ban`, { seconds: 3, reason: "a reason of some length" });
    const open = async (path: string) => {
      const { page } = await openConsole(browser, service, "/console/plans");
      await page.clock.install();
      await page.goto(new URL(path, service.url).href);
      return page;
    };
    const bans = await open(`/console/bans?key=${id}`);
    await bans
      .getByText("No past bans")
      .or(bans.getByRole("table", { name: "Past" }))
      .first()
      .waitFor();
    const key = await open(`/console/keys/${id}`);
    const audit = key.locator("section").filter({ has: key.getByRole("heading", { name: "What happened" }) });
    await audit.getByText("bans.set").waitFor();
    await service.admin("PATCH", `/keys/${id}`, { disabled: true });
    await new Promise((ended) => setTimeout(ended, 3_500));
    for (const page of [bans, key]) await page.clock.runFor(31_000);
    await audit.getByText("keys.update").waitFor();
    await bans.getByRole("table", { name: /past/i }).getByText("a reason of some length").waitFor();
    expect(pathOf(key)).toBe(`/console/keys/${id}`);
    await Promise.all([bans.close(), key.close()]);
  });
});
