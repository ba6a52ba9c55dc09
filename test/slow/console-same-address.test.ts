/** The console in a browser: a question that is asked again, and a link to the page that is shown, load it again. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { headingAt, openConsole } from "../support/console.ts";
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

/** Long enough for the effects of a change, which make calls. */
const untilEffects = (page: Page) =>
  page.evaluate("new Promise((end) => requestAnimationFrame(() => setTimeout(end, 100)))");

const entriesOf = (page: Page) => page.evaluate("history.length");

describe.skipIf(executablePath === undefined)("a page of the console that is visited again", () => {
  it("has the new changes: searched for again, and by a link", async ({ expect }) => {
    const { body } = await service.admin("POST", "/keys", { name: "again", plan: "free" });
    const { page } = await openConsole(browser, service, "/console/audit");
    await page.getByLabel("Object").fill(String(body.id));
    const search = () => page.getByRole("button", { name: "Search" }).click();
    const link = () => page.getByRole("link", { name: "Audit" }).click();
    const rows = (call: string) => page.getByRole("row").filter({ hasText: call });
    await search();
    await rows("keys.create").waitFor();
    const entries = await entriesOf(page);
    await service.admin("PATCH", `/keys/${body.id}`, { disabled: true });
    await search();
    await rows("keys.update").waitFor();
    expect(await entriesOf(page)).toBe(entries);
    await link();
    await page.waitForURL("**/console/audit");
    await service.admin("DELETE", `/keys/${body.id}`);
    await link();
    await rows("keys.revoke")
      .filter({ hasText: String(body.id) })
      .waitFor();
    expect(await entriesOf(page)).toBe(Number(entries) + 1);
    await page.close();
  });

  it.for([
    ["/console/audit?object=free&from=2026-01-01T00:00:00Z", "Search", "/admin/audit"],
    ["/console/audit?actor=an%20operator", "Search", "/admin/audit"],
    ["/console/orders/?petId=%37", "Filter", "/admin/orders?"],
  ] as const)(
    "is loaded again, whatever the spelling of its address: %s",
    async ([address, button, call], { expect }) => {
      const { page, requested, settled } = await openConsole(browser, service, address);
      const callsOf = () => requested.filter((url) => url.includes(call)).length;
      await expect.poll(callsOf).toBeGreaterThan(0);
      await settled();
      const [calls, entries] = [callsOf(), await entriesOf(page)];
      await page.getByRole("button", { name: button }).click();
      await expect.poll(callsOf).toBeGreaterThan(calls);
      expect(await entriesOf(page)).toBe(entries);
      await page.close();
    },
  );

  it.for([
    ["/console/orders?status=&petId=5", "Filter", "/admin/orders?"],
    ["/console/orders?petId=5&petId=5", "Filter", "/admin/orders?"],
    ["/console/orders?petId=five", "Filter", "/admin/orders?"],
    ["/console/orders?petId=five", "Orders", "/admin/orders?"],
    ["/console/orders?status=pending", "Orders", "/admin/orders/cancelled?"],
    ["/console/plans?from=mail", "Plans", "/admin/plans"],
    ["/console?from=mail", "Store Orders", "/admin/bans"],
  ] as const)(
    "is loaded again once, if only its address changes: %s",
    async ([address, name, call], { expect }) => {
      const { body } = await service.admin("POST", "/keys", { name: "again", plan: "free" });
      const { page, requested, settled } = await openConsole(
        browser,
        service,
        address.replace("KEY", `${body.id}`),
      );
      const callsOf = () => requested.filter((url) => url.includes(call)).length;
      await expect.poll(callsOf).toBeGreaterThan(0);
      await settled();
      const calls = callsOf();
      const shown = page.url();
      const exact = { name, exact: true };
      await page.getByRole("button", exact).or(page.getByRole("link", exact)).click();
      await expect.poll(callsOf).toBe(calls + 1);
      expect(page.url()).not.toBe(shown);
      await untilEffects(page);
      expect(callsOf()).toBe(calls + 1);
      await page.close();
    },
  );

  it.for([
    ["/console/orders?petId=5", "Orders", "/admin/orders/cancelled?"],
    ["/console/orders?petId=5", "Orders", "/admin/orders?"],
  ] as const)(
    "is loaded again once by Back and by Forward: %s, %s, %s",
    async ([address, name, call], { expect }) => {
      const { body } = await service.admin("POST", "/keys", { name: "again", plan: "free" });
      const { page, requested, settled } = await openConsole(
        browser,
        service,
        address.replace("KEY", `${body.id}`),
      );
      const callsOf = () => requested.filter((url) => url.includes(call)).length;
      await settled();
      const shown = page.url();
      const first = callsOf();
      await page.getByRole("link", { name, exact: true }).click();
      await expect.poll(callsOf).toBeGreaterThan(first);
      for (const go of [() => page.goBack(), () => page.goForward(), () => page.goBack()]) {
        await untilEffects(page);
        const calls = callsOf();
        await go();
        await expect.poll(callsOf).toBe(calls + 1);
        await untilEffects(page);
        expect(callsOf()).toBe(calls + 1);
      }
      expect(page.url()).toBe(shown);
      await page.close();
    },
  );

  it("makes no calls for a part of the page", async ({ expect }) => {
    const { body } = await service.admin("POST", "/keys", { name: "again", plan: "free" });
    const { page, requested, settled } = await openConsole(browser, service, `/console/keys/${body.id}`);
    await headingAt(page, "again");
    await settled();
    // Unlike others, these are not made every few seconds.
    const callsOf = () => requested.filter((url) => url.endsWith("/history")).length;
    const calls = callsOf();
    expect(calls).toBe(1);
    await page.evaluate("document.querySelector('.skip').click()");
    expect(new URL(page.url()).hash).toBe("#main");
    await page.goBack();
    expect(new URL(page.url()).hash).toBe("");
    await untilEffects(page);
    expect(callsOf()).toBe(calls);
    await page.close();
  });

  it("says nothing of a search before", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/keys");
    const search = page.getByLabel("Name, owner, id or secret");
    const message = page.getByText("No key has a secret with this end.");
    const find = async () => {
      await search.fill("…zzzzzzzzzzzz");
      await search.press("Enter");
    };
    await find();
    await message.waitFor();
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await expect.poll(() => message.count()).toBe(0);
    await page.route("**/admin/keys/find", (route) => route.abort());
    await find();
    await page.locator("search").getByRole("alert").waitFor();
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await expect.poll(() => page.locator("search").getByRole("alert").count()).toBe(0);
    await page.close();
  });

  it("makes no calls when a link leads to another page", async ({ expect }) => {
    const { page, requested, settled } = await openConsole(browser, service, "/console/orders");
    await settled();
    const calls = requested.length;
    await page.getByRole("link", { name: "Plans" }).click();
    await headingAt(page, "Plans");
    await page.getByRole("table").first().waitFor();
    const paths = requested.slice(calls).map((url) => new URL(url).pathname);
    expect(paths).toEqual(["/admin/plans"]);
    await page.close();
  });

  it("is opened beside it by a link with a modifier key", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/plans");
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("link", { name: "Plans" }).click({ modifiers: ["ControlOrMeta"] }),
    ]);
    await opened.waitForURL("**/console/plans");
    expect(new URL(page.url()).pathname).toBe("/console/plans");
    await opened.close();
    await page.close();
  });
});
