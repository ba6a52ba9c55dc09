/** The pages of orders in a browser: the file of an import as people choose it, and the lists. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { headingAt, openConsole } from "../support/console.ts";
import { openService, type Service } from "../support/service.ts";

const executablePath = findBrowser();

let service: Service;
let browser: Browser;
const folder = mkdtempSync(join(tmpdir(), "store-orders-console-"));

beforeAll(async () => {
  service = await openService();
  if (executablePath !== undefined) browser = await openBrowser(executablePath);
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** In the browser's own window for files. `setInputFiles` would set them without it. */
async function choose(page: Page, path: string, open = () => page.locator(".drop").click()): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), open()]);
  await chooser.setFiles(path);
}

async function drop(page: Page, name: string, text: string): Promise<void> {
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
    const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector(".drop").dispatchEvent(event);
  }`);
}

const importButton = (page: Page) => page.getByRole("button", { name: "Import", exact: true });
const statusOf = async (id: number) => (await service.admin("GET", `/orders/${id}`)).status;

describe.skipIf(executablePath === undefined)("the file of an import", () => {
  it("can be chosen again after it was edited", async () => {
    const path = fileWith("edited.ndjson", '{"id":930001}');
    const { page } = await openConsole(browser, service, "/console/orders/import");
    await choose(page, path);
    await page.getByText("edited.ndjson, 13 bytes").waitFor();
    fileWith("edited.ndjson", '{"id":930001}\n{"id":930002}');
    await importButton(page).click();
    await page.getByRole("alert").getByText("choose it again").waitFor();
    await choose(page, path);
    await page.getByText("edited.ndjson, 27 bytes").waitFor();
    await importButton(page).click();
    await page.getByText("2 of 2 orders sent: 2 inserted").waitFor();
    await page.close();
  });

  it("is the one that was chosen or dropped last, which is the only one that is named", async ({
    expect,
  }) => {
    const { page } = await openConsole(browser, service, "/console/orders/import");
    const path = fileWith("a.ndjson", '{"id":930011}');
    await choose(page, path);
    await page.getByText("a.ndjson, 13 bytes").waitFor();
    await drop(page, "b.ndjson", '{"id":930012,"petId":1}');
    await page.getByText("b.ndjson, 23 bytes").waitFor();
    const button = page.getByRole("button", { name: "Choose a file", description: "b.ndjson, 23 bytes" });
    await choose(page, path, () => button.press("Enter"));
    await page.getByText("a.ndjson, 13 bytes").waitFor();
    expect(await page.locator("input[type=file]").isVisible()).toBe(false);
    await importButton(page).click();
    await page.getByRole("heading", { name: "Imported", exact: true }).waitFor();
    expect([await statusOf(930011), await statusOf(930012)]).toEqual([200, 404]);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the last imports", () => {
  it("have the one that ends, also if its page was left and opened again meanwhile", async () => {
    const { page } = await openConsole(browser, service, "/console/orders");
    await page.getByRole("link", { name: "Import orders" }).click();
    await choose(page, fileWith("left.ndjson", '{"id":930021}'));
    const { promise: isBack, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/admin/orders?import=*", (route) => isBack.then(() => route.continue()));
    await importButton(page).click();
    await page.goBack();
    await headingAt(page, "Orders");
    const listed = page.waitForResponse("**/admin/orders/imports?*");
    await page.goForward();
    await (await listed).finished();
    answer();
    await page.locator(".toast").getByText("The import of left.ndjson is done.").waitFor();
    await page.getByRole("row", { name: /^left\.ndjson .* tester .*1 0 0 0 0 0/ }).waitFor();
    await page.close();
  });
});
