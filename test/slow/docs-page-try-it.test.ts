/** The panels of the documentation page that call an operation, against the running service. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { openCuttingProxy } from "../support/cutting-proxy.ts";
import {
  insertOrders,
  keyField,
  openDocs,
  panelOf,
  send,
  sendAndGet,
  statusOf,
} from "../support/docs-page.ts";
import { mintSecret, type Service, startService, untilMinuteHas } from "../support/service.ts";

const executablePath = findBrowser();

let service: Service;
let browser: Browser;

beforeAll(async () => {
  if (executablePath === undefined) return;
  service = await startService();
  browser = await openBrowser(executablePath);
  await insertOrders(service);
});

afterAll(async () => {
  await browser?.close();
  await service?.close();
});

async function confirmCancel(page: Page, panel: Locator, orderId: string): Promise<void> {
  await panel.getByLabel("orderId").fill(orderId);
  await send(panel);
  await page.getByRole("dialog").getByRole("button", { name: "Send DELETE" }).click();
}

describe.skipIf(executablePath === undefined)("the key of a panel", () => {
  it("is checked before it is sent, and understood with what surrounds it", async ({ expect }) => {
    const { key } = await service.createKey();
    const { page, requested } = await openDocs(browser, service, "phone");
    const panel = panelOf(page, "List all orders");
    for (const [text, sentence] of [
      ["", "Enter your API key."],
      [`${key.slice(0, 6)}…${key.slice(-4)}`, "This is a masked key"],
      [key.slice(0, -1), "this text has 41"],
      [key.slice(0, -1) + (key.endsWith("x") ? "y" : "x"), "its checksum does not match"],
    ] as const) {
      await keyField(panel).fill(text);
      await send(panel);
      await panel.getByRole("alert").getByText(sentence).waitFor();
      expect(await keyField(panel).evaluate((element) => element.matches(":focus"))).toBe(true);
      expect(await keyField(panel).getAttribute("aria-invalid")).toBe("true");
    }
    expect(requested.filter((url) => url.includes("/v1/"))).toEqual([]);

    expect(await keyField(panel).getAttribute("type")).toBe("password");
    await panel.getByRole("button", { name: "Show the API key" }).click();
    expect(await keyField(panel).getAttribute("type")).toBe("text");
    await keyField(panel).fill(`Authorization: Bearer ${key}`);
    await sendAndGet(panel, 200);
    expect(await panel.getByRole("alert").textContent()).toBe("");
    await page.close();
  });

  it("is shared by the panels, and neither stored nor part of an address", async ({ expect }) => {
    const { key } = await service.createKey();
    const { page, problems, requested } = await openDocs(browser, service, "desk");
    await keyField(panelOf(page, "List all orders")).fill(key);
    expect(await keyField(panelOf(page, "Look up a pet")).inputValue()).toBe(key);
    await sendAndGet(panelOf(page, "List all orders"), 200);
    expect(problems).toEqual([]);
    expect(requested.filter((url) => new URL(url).origin !== new URL(service.url).origin)).toEqual([]);
    expect(requested.filter((url) => url.includes(key))).toEqual([]);
    const stored =
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])";
    expect(await page.evaluate(stored)).not.toContain(key);
    await page.close();
  });

  it("is refused by the service if it is unknown; without the service, that is shown", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "phone");
    const panel = panelOf(page, "List all orders");
    await keyField(panel).fill(mintSecret().key);
    expect(await sendAndGet(panel, 401)).toContain('Bearer realm="store-orders", error="invalid_token"');
    await page.route("**/v1/**", (route) => route.abort());
    await send(panel);
    await panel.locator(".result").getByText("No answer: ").waitFor();
    expect(await panel.getByRole("status").last().textContent()).toMatch(/^No answer: /);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("cancelling", () => {
  it("asks first, begins without an order, and shows why an order cannot be cancelled", async ({
    expect,
  }) => {
    const { key } = await service.createKey();
    const { page, requested } = await openDocs(browser, service, "phone");
    const panel = panelOf(page, "Cancel an order");
    const orderId = panel.getByLabel("orderId");
    expect(await orderId.inputValue()).toBe("");
    expect(await panel.locator(".code").textContent()).toContain("/store/orders/$ORDER_ID");
    expect(await panel.getByRole("button", { name: "Send DELETE…" }).getAttribute("class")).toContain(
      "danger",
    );
    await keyField(panel).fill(key);
    await send(panel);
    expect(await orderId.evaluate((element) => element.matches(":invalid:focus"))).toBe(true);

    await orderId.fill("10");
    const dialog = page.getByRole("dialog", { name: "Cancel an order?" });
    for (const refuse of [
      () => dialog.getByRole("button", { name: "Do not send" }).click(),
      () => page.keyboard.press("Escape"),
    ]) {
      await send(panel);
      await dialog.getByText("/v1/store/orders/10").waitFor();
      await refuse();
      await dialog.waitFor({ state: "detached" });
    }
    await send(panel);
    await dialog.waitFor();
    // Enter alone does not cancel: the focus is on the harmless button.
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Do not send");
    expect(await axeViolations(page)).toEqual([]);
    expect(requested.filter((url) => url.includes("/v1/"))).toEqual([]);
    await dialog.getByRole("button", { name: "Send DELETE" }).click();
    await statusOf(panel).getByText("204").waitFor();
    await panel.getByText("The order was pending and is cancelled.").waitFor();

    await confirmCancel(page, panel, "2");
    await panel.locator(".body").getByText("order_already_shipped").waitFor();
    // The body, which says why, is above the headers.
    expect(await panel.locator(".result").textContent()).toMatch(/order_already_shipped.*X-RateLimit-Limit/s);
    await page.close();
  });

  it("says what a 404 can mean if the browser sent the request twice", async ({ expect }) => {
    const { key } = await service.createKey();
    const { sent, through, close } = await openCuttingProxy(service, "DELETE");
    const { page } = await openDocs(browser, through, "phone");
    const panel = panelOf(page, "Cancel an order");
    await keyField(panel).fill(key);
    // Only on a connection that was used before does the browser send again.
    await sendAndGet(panelOf(page, "List all orders"), 200);
    await confirmCancel(page, panel, "11");
    await statusOf(panel).getByText("404").waitFor();
    await panel.getByText("your browser may have sent the request twice").waitFor();
    expect(sent).toEqual(["/v1/store/orders/11", "/v1/store/orders/11"]);
    await page.close();
    close();
  });
});

describe.skipIf(executablePath === undefined)("the field for a part of a path", () => {
  it("refuses what a URL cannot have there, which would be another address", async ({ expect }) => {
    const { page, problems } = await openDocs(browser, service, "phone");
    const panel = panelOf(page, "Cancel an order");
    const orderId = panel.getByLabel("orderId");
    await keyField(panel).fill((await service.createKey()).key);
    for (const text of ["..", " . ", "  "]) {
      await orderId.fill(text);
      await send(panel);
      expect(await orderId.evaluate((element) => element.matches(":invalid:focus"))).toBe(true);
      expect(await orderId.getAttribute("title")).toBe(
        "A URL cannot have only blanks, . or .. in this place",
      );
    }
    for (const text of ["...", "1..2", "1\ud800"]) {
      await orderId.evaluate((element, value) => {
        Object.assign(element, { value });
        element.dispatchEvent(new Event("input", { bubbles: true }));
      }, text);
      await send(panel);
      await page.getByRole("dialog").getByRole("button", { name: "Do not send" }).click();
    }
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the answer in a panel", () => {
  it("offers its ETag for If-None-Match; then the answer is 304 until the list changes", async ({
    expect,
  }) => {
    const { key } = await service.createKey({ plan: "free" });
    const { page } = await openDocs(browser, service, "desk");
    const panel = panelOf(page, "List all orders");
    await keyField(panel).fill(key);
    await untilMinuteHas(10);
    expect(await sendAndGet(panel, 200)).toContain("59 of 60 requests left until");
    const field = panel.getByLabel("If-None-Match (optional)");
    expect(await field.inputValue()).toBe("");
    const useEtag = panel.getByRole("button", { name: "Put this ETag into If-None-Match" });
    await useEtag.click();
    const focusedText = "document.activeElement.textContent";
    expect(await page.evaluate(focusedText)).toBe("Send request");
    const etag = (await field.inputValue()).replace("W/", "");
    expect(etag).toMatch(/^"[0-9a-f-]+"$/);
    expect(await panel.locator(".code").first().textContent()).toContain("-H 'If-None-Match: ");
    expect(await sendAndGet(panel, 304)).toContain("Empty that field to get it again.");
    expect(await panel.locator("label.left").textContent()).toMatch(/^58 of 60 requests left until/);

    const cancel = panelOf(page, "Cancel an order");
    await confirmCancel(page, cancel, "12");
    await statusOf(cancel).getByText("204").waitFor();
    expect(await cancel.getByRole("button", { name: "Put this ETag" }).count()).toBe(0);
    expect(await sendAndGet(panel, 200)).toContain("All orders.");
    // What was typed stays until it is replaced.
    expect((await field.inputValue()).replace("W/", "")).toBe(etag);
    await useEtag.click();
    expect((await field.inputValue()).replace("W/", "")).not.toBe(etag);

    // A key that cannot be sent does not leave an earlier answer below it.
    await keyField(panel).fill("sok_");
    await send(panel);
    await panel.locator(".result .status").waitFor({ state: "detached" });
    await page.close();
  });

  it("is not translated by the browser, which would keep the texts of before", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "desk");
    await panelOf(page, "List all orders").waitFor();
    const panels = "[...document.querySelectorAll('.try-it')].map((panel) => panel.translate)";
    expect(new Set(await page.evaluate<boolean[]>(panels))).toEqual(new Set([false]));
    const others = "[...document.querySelectorAll('.search, .button.small')].map((each) => each.translate)";
    expect(new Set(await page.evaluate<boolean[]>(others))).toEqual(new Set([false]));
    expect(await page.evaluate("document.querySelector('h1').translate")).toBe(true);
    await page.close();
  });

  it("is read once, and shown without indents if it is long", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "desk");
    const panel = panelOf(page, "List all orders");
    const orders = Array.from({ length: 20_000 }, (_, id) => ({
      id,
      petId: 1,
      quantity: 1,
      status: "pending",
    }));
    await page.route("**/v1/store/orders", (route) => route.fulfill({ json: orders }));
    await page.evaluate(`{
      const { parse } = JSON;
      window.parsed = 0;
      JSON.parse = (...given) => (window.parsed++, parse(...given));
    }`);
    await keyField(panel).fill((await service.createKey()).key);
    expect(await sendAndGet(panel, 200)).toContain('[{"id":0,"petId":1,');
    expect(await panel.locator(".body").textContent()).toMatch(/… and \d{7} more characters$/);
    await page.route("**/v1/store/orders", (route) => route.fulfill({ json: orders.slice(0, 100) }));
    expect(await sendAndGet(panel, 200)).toContain('"id": 0,\n');
    const parsed = await page.evaluate("window.parsed");
    await panel.getByLabel("If-None-Match (optional)").pressSequentially("W/1");
    expect(await page.evaluate("window.parsed")).toBe(parsed);
    await page.close();
  });

  it("is not shown any more while the next request waits", async ({ expect }) => {
    const { page } = await openDocs(browser, service, "phone");
    const panel = panelOf(page, "List all orders");
    await keyField(panel).fill((await service.createKey()).key);
    await sendAndGet(panel, 200);
    // Never answered.
    await page.route("**/v1/**", () => {});
    await send(panel);
    await panel.getByText("Sending…").waitFor();
    expect(await panel.locator(".result").textContent()).toBe("Sending…");
    await page.close();
  });
});
