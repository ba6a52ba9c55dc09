/** The console over a connection that ends before an answer: Chromium then sends the call again by itself, a POST too. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { confirm, openConsole } from "../support/console.ts";
import { openCuttingProxy } from "../support/cutting-proxy.ts";
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

const MADE = "The change was made by an earlier sending of this call, whose answer was lost.";

describe.skipIf(executablePath === undefined)("a call that the browser sends again", () => {
  it("makes no second key, and the page says that it was made", async ({ expect }) => {
    const { sent, through, close } = await openCuttingProxy(service, "POST");
    const { page } = await openConsole(browser, through, "/console/keys/new");
    await page.getByLabel("Name", { exact: true }).fill("sent again");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("alert").getByText(MADE).waitFor();
    expect(sent).toEqual(["/admin/keys", "/admin/keys"]);
    const { body } = await service.admin("GET", "/keys?search=sent+again");
    expect(body.keys).toHaveLength(1);
    await page.close();
    close();
  });

  it("deletes an order once, and does not say that there was none", async ({ expect }) => {
    await service.db.exec("insert into orders (id, pet_id, quantity, status) values (981, 7, 1, 'pending')");
    const { sent, through, close } = await openCuttingProxy(service, "DELETE");
    const { page } = await openConsole(browser, through, "/console/orders/981");
    await page.getByRole("button", { name: "Delete…" }).click();
    await confirm(page);
    await page.getByRole("dialog").getByText(MADE).waitFor();
    expect(sent).toHaveLength(2);
    await page.close();
    close();
  });
});
