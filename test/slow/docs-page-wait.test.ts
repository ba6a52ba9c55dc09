/** How the panels of the documentation page wait as `Retry-After` says. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, findBrowser, openBrowser, SCREENS } from "../support/browser.ts";
import { keyField, openDocs, panelOf, send, sendAndGet, statusOf } from "../support/docs-page.ts";
import { type Service, startService, untilMinuteHas } from "../support/service.ts";

const executablePath = findBrowser();

let service: Service;
let browser: Browser;

beforeAll(async () => {
  if (executablePath === undefined) return;
  service = await startService();
  browser = await openBrowser(executablePath);
});

afterAll(async () => {
  await browser?.close();
  await service?.close();
});

describe.skipIf(executablePath === undefined)("the wait of a panel", () => {
  it("counts down after a 429 until the key may send again", async ({ expect }) => {
    const { key } = await service.createKey({ perMinute: 1 });
    const other = await service.createKey();
    const { page } = await openDocs(browser, service, "phone");
    const panel = panelOf(page, "List all orders");
    await keyField(panel).fill(key);
    await untilMinuteHas(10);
    await sendAndGet(panel, 200);
    const text = await sendAndGet(panel, 429);
    expect(text).toContain("each earlier request is refused too");
    expect(text).toMatch(/Retry-After\d+/);
    expect(text).toContain("X-RateLimit-Remaining0");
    const timer = panel.getByRole("timer");
    expect(await timer.textContent()).toMatch(/^Try again in (?:1 min 00|\d+) s$/);
    const button = panel.getByRole("button", { name: "Send request" });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    expect(await panelOf(page, "Cancel an order").getByRole("timer").count()).toBe(1);

    // Another key need not wait.
    await keyField(panel).fill(other.key);
    await timer.waitFor({ state: "detached" });
    await sendAndGet(panel, 200);

    // A short ban, so that the end of a wait is seen.
    await service.admin("PUT", `/keys/${other.id}/ban`, { seconds: 5, reason: "a test of waiting" });
    expect(await sendAndGet(panel, 429)).toContain("key_banned");
    await timer.waitFor({ state: "detached" });
    await sendAndGet(panel, 200);
    await page.close();
  });

  it("ends when the key is entered again, and says so if it is long: an operator can have lifted the ban", async ({
    expect,
  }) => {
    const { id, key } = await service.createKey();
    const { page, requested } = await openDocs(browser, service, "desk");
    const panel = panelOf(page, "List all orders");
    const ban = { seconds: 86_400, reason: "a test of waiting" };
    await service.admin("PUT", `/keys/${id}/ban`, ban);
    await keyField(panel).fill(key);
    await sendAndGet(panel, 429);
    const timer = panel.getByRole("timer");
    expect(await timer.textContent()).toMatch(/^Try again in (?:1 d 0 h|23 h 59 min)$/);
    const advice = panel.getByText(
      "If the ban was lifted or the limit raised, enter the API key again: that ends the wait.",
    );
    await advice.waitFor();
    for (const [screen, colorScheme] of [["desk", "light"] as const, ["phone", "dark"] as const]) {
      await page.setViewportSize(SCREENS[screen]);
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(SCREENS[screen].width);
    }
    await service.admin("DELETE", `/keys/${id}/ban`, { forgive: true });
    await keyField(panel).press("Enter");
    expect(requested.filter((url) => url.includes("/v1/"))).toHaveLength(1);
    await keyField(panel).fill(key);
    expect(await timer.count()).toBe(0);
    expect(await advice.count()).toBe(0);
    await sendAndGet(panel, 200);

    // Not an answer for the key of before, nor a short wait: there is nothing better than to wait.
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/v1/**", async (route) => {
      await mayAnswer;
      await route.fulfill({ status: 429, headers: { "Retry-After": "50" }, json: {} });
    });
    await send(panel);
    await keyField(panel).fill((await service.createKey()).key);
    answer();
    await statusOf(panel).getByText("429").waitFor();
    expect(await timer.count()).toBe(0);
    await sendAndGet(panel, 429);
    await timer.waitFor();
    expect(await advice.count()).toBe(0);
    await page.close();
  });

  it("counts down after a 503 with Retry-After", async ({ expect }) => {
    const { key } = await service.createKey();
    const { page } = await openDocs(browser, service, "phone");
    const panel = panelOf(page, "List all orders");
    await keyField(panel).fill(key);
    const body = JSON.stringify({ code: "service_unavailable", message: "…", status: 503 });
    await page.route("**/v1/**", (route) =>
      route.fulfill({ status: 503, headers: { "Retry-After": "2" }, contentType: "application/json", body }),
    );
    expect(await sendAndGet(panel, 503)).toContain("Wait for 2 s.");
    expect(await panel.getByRole("timer").textContent()).toMatch(/^Try again in [12] s$/);
    expect(await panel.getByRole("status").last().textContent()).toMatch(/^Response: 503 .*, wait for 2 s$/);
    await page.unroute("**/v1/**");
    await panel.getByRole("timer").waitFor({ state: "detached" });
    await sendAndGet(panel, 200);
    await page.close();
  });

  it("ends on time also if the device has slept, when only the clock goes on", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "desk");
    const panel = panelOf(page, "List all orders");
    await page.route("**/v1/**", (route) =>
      route.fulfill({ status: 429, headers: { "Retry-After": "50" }, json: {} }),
    );
    await keyField(panel).fill((await service.createKey()).key);
    await sendAndGet(panel, 429);
    const timer = panel.getByRole("timer");
    expect(await timer.textContent()).toMatch(/^Try again in (?:50|4\d) s$/);
    await page.evaluate("{ const now = Date.now; Date.now = () => now() + 60_000; }");
    await timer.waitFor({ state: "detached", timeout: 10_000 });
    await page.close();
  });

  it("leaves the longer wait of another panel as it is", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "desk");
    const list = panelOf(page, "List all orders");
    const pet = panelOf(page, "Look up a pet");
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/v1/pets/*", async (route) => {
      await mayAnswer;
      await route.fulfill({ status: 503, headers: { "Retry-After": "1" }, json: {} });
    });
    await page.route("**/v1/store/orders", (route) =>
      route.fulfill({ status: 429, headers: { "Retry-After": "50" }, json: {} }),
    );
    await keyField(list).fill((await service.createKey()).key);
    await pet.getByLabel("petId").fill("1");
    await send(pet);
    await sendAndGet(list, 429);
    answer();
    await statusOf(pet).getByText("503").waitFor();
    await page.waitForTimeout(1_500);
    expect(await list.getByRole("timer").textContent()).toMatch(/^Try again in 4\d s$/);
    await page.close();
  });

  it("lets no request of another panel begin before its wait is over, also one that was to be confirmed", async ({
    expect,
  }) => {
    const { page, requested } = await openDocs(browser, service, "phone");
    const list = panelOf(page, "List all orders");
    const cancel = panelOf(page, "Cancel an order");
    await keyField(list).fill((await service.createKey()).key);
    const { promise: isConfirming, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/v1/**", async (route) => {
      await isConfirming;
      await route.fulfill({ status: 429, headers: { "Retry-After": "50" }, body: "{}" });
    });
    await send(list);
    await cancel.getByLabel("orderId").fill("5");
    await send(cancel);
    const confirmation = page.getByRole("dialog").getByRole("button", { name: "Send DELETE" });
    await confirmation.waitFor();
    answer();
    await cancel.getByRole("timer").waitFor();
    await confirmation.click();
    await confirmation.waitFor({ state: "detached" });
    expect(await cancel.locator(".result").textContent()).toBe("");
    expect(requested.filter((url) => url.includes("/v1/"))).toHaveLength(1);
    await page.close();
  });

  it("asks for no wait if its Retry-After is no number of seconds", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "phone");
    const panel = panelOf(page, "List all orders");
    await keyField(panel).fill((await service.createKey()).key);
    for (const wait of ["Infinity", "-5", "1e3", "Wed, 21 Oct 2026 07:28:00 GMT", "9".repeat(20)]) {
      await page.route("**/v1/**", (route) =>
        route.fulfill({ status: 503, headers: { "Retry-After": wait }, body: "{}" }),
      );
      expect(await sendAndGet(panel, 503)).not.toContain("Wait for");
      expect(await panel.getByRole("timer").count()).toBe(0);
    }
    await page.close();
  });

  it("says of the per-IP rate limit not that each earlier request is refused, and shows the date of another day", async ({
    expect,
  }) => {
    const { page } = await openDocs(browser, service, "phone");
    const panel = panelOf(page, "List all orders");
    await keyField(panel).fill((await service.createKey()).key);
    const reset = Math.floor(Date.now() / 1000) + 3 * 86_400;
    const headers = {
      "X-RateLimit-Limit": "300",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": `${reset}`,
    };
    await page.route("**/v1/**", (route) =>
      route.fulfill({ status: 429, headers: { ...headers, "Retry-After": "60" }, body: "{}" }),
    );
    expect(await sendAndGet(panel, 429)).toContain("Wait for 1 min 00 s.");
    const year = new Date(reset * 1000).getFullYear();
    expect(await panel.locator("label.left").textContent()).toContain(`/${year}, `);
    await page.close();
  });
});
