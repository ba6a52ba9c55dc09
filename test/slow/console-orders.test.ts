/** The pages of orders in a browser: the file of an import as people choose it, and the lists. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { confirm, headingAt, openConsole } from "../support/console.ts";
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

  it("is imported once, however often Enter is pressed, until it is chosen or checked again", async ({
    expect,
  }) => {
    const path = fileWith("once.ndjson", '{"id":930041}\n{"id":930042}');
    const { page } = await openConsole(browser, service, "/console/orders/import");
    let imports = 0;
    page.on("request", (request) => {
      if (request.method() === "POST") imports++;
    });
    const importChosen = async (inserted: number) => {
      await choose(page, path);
      await importButton(page).focus();
      await page.keyboard.press("Enter");
      await page.getByText(`2 of 2 orders sent: ${inserted} inserted`).waitFor();
    };
    await importChosen(2);
    for (let i = 0; i < 3; i++) await page.keyboard.press("Enter");
    await page.waitForTimeout(200);
    expect(imports).toBe(1);
    await importChosen(0);
    expect(imports).toBe(2);
    await page.getByRole("button", { name: "Check only" }).click();
    await page.getByText("2 of 2 orders checked").waitFor();
    await importButton(page).click();
    await page.getByText("2 of 2 orders sent: 0 inserted").waitFor();
    expect(imports, "with the check").toBe(4);
    await page.close();
  });

  it("is named without characters that would change the order of the text", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/orders/import");
    await drop(page, "a\u202e\u0007b.ndjson", '{"id":930013}');
    await page.getByText("ab.ndjson, 13 bytes", { exact: true }).waitFor();
    // Never answered.
    await page.route("**/admin/orders?*", () => {});
    const asked = page.waitForRequest("**/admin/orders?*");
    await importButton(page).click();
    await asked;
    await page.getByRole("button", { name: "Sign out" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "Not finished" });
    expect(await alert.textContent()).toContain("Import of ab.ndjson.");
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the buttons of an import", () => {
  it("keep the focus while they cannot be used", async ({ expect }) => {
    const { page, requested } = await openConsole(browser, service, "/console/orders/import");
    await choose(page, fileWith("focus.ndjson", '{"id":930041}'));
    for (const [name, title] of [
      ["Check only", "Checked"],
      ["Import", "Imported"],
    ] as const) {
      const { promise, resolve: answer } = Promise.withResolvers<void>();
      await page.route("**/admin/orders?*", (route) => promise.then(() => route.continue()));
      const button = page.getByRole("button", { name, exact: true });
      const asked = page.waitForRequest("**/admin/orders?*");
      await button.press("Enter");
      await asked;
      expect(await button.isDisabled()).toBe(true);
      await page.keyboard.press("Enter");
      answer();
      await page.getByRole("heading", { name: title, exact: true }).waitFor();
      expect(await button.evaluate((element) => element.matches(":focus:enabled"))).toBe(true);
      await page.unroute("**/admin/orders?*");
    }
    expect(requested.filter((url) => url.includes("/admin/orders?"))).toHaveLength(2);
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

describe.skipIf(executablePath === undefined)("the page of an order that was deleted", () => {
  const GONE = "No order has this id.";

  it("says so after a reload", async ({ expect }) => {
    await service.admin("POST", "/orders", '{"id":930031}');
    const { page } = await openConsole(browser, service, "/console/orders/930031");
    await page.route("**/admin/orders/930031", async (route) => {
      if (route.request().method() !== "PATCH") return route.continue();
      const response = await route.fetch();
      await service.admin("DELETE", "/orders/930031");
      await route.fulfill({ response });
    });
    await page.getByRole("button", { name: "Change status…" }).click();
    await confirm(page);
    await page.locator("main > .notice").getByText(GONE).waitFor();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await page.locator("main").textContent()).not.toMatch(/Status|Delete/);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Order 930031");
    await page.close();
  });

  it("says so also if the dialog was left before the answer came", async () => {
    await service.admin("POST", "/orders", '{"id":930034}');
    const { page } = await openConsole(browser, service, "/console/orders/930034");
    const left = Promise.withResolvers<void>();
    await page.route("**/admin/orders/930034", async (route) => {
      const response = await route.fetch();
      if (route.request().method() === "DELETE") await left.promise;
      await route.fulfill({ response });
    });
    const sent = page.waitForRequest((request) => request.method() === "DELETE");
    await page.getByRole("button", { name: "Delete…" }).click();
    await confirm(page);
    await sent;
    const dialog = page.getByRole("dialog");
    while (await dialog.isVisible()) await page.keyboard.press("Escape");
    left.resolve();
    await page.locator("main > .notice").getByText(GONE).waitFor();
    await page.close();
  });

  it("says so behind the dialog if the answer was lost or another operator has deleted it", async ({
    expect,
  }) => {
    await service.admin("POST", "/orders", '{"id":930032}\n{"id":930033}');
    for (const id of [930032, 930033]) {
      const { page } = await openConsole(browser, service, `/console/orders/${id}`);
      await page.route(`**/admin/orders/${id}`, async (route) => {
        if (route.request().method() !== "DELETE") return route.continue();
        await route.fetch();
        await route.abort();
      });
      await page.getByRole("button", { name: "Delete…" }).click();
      const alert = page.getByRole("dialog").getByRole("alert");
      await page.getByRole("dialog").waitFor();
      if (id === 930033) await service.admin("DELETE", `/orders/${id}`);
      await confirm(page);
      if (id === 930032) {
        await alert.getByText("The service could not be reached.").waitFor();
        await page.locator("main > .notice").getByText(GONE).waitFor();
        await confirm(page);
      }
      await alert.getByText(GONE).waitFor();
      await page.locator("main > .notice").getByText(GONE).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      expect(await page.getByRole("button", { name: "Delete…" }).count()).toBe(0);
      await expect
        .poll(() => page.evaluate("document.activeElement.textContent"), { timeout: 10_000 })
        .toBe(`Order ${id}`);
      await page.close();
    }
  });
});

describe.skipIf(executablePath === undefined)("the lists of orders", () => {
  it("are paged and filtered each for itself", async ({ expect }) => {
    const lines = Array.from({ length: 60 }, (_, i) => `{"id":${940_001 + i},"petId":94}`);
    const cancelled = Array.from({ length: 51 }, (_, i) => 941_001 + i);
    await service.admin("POST", "/orders", [...lines, ...cancelled.map((id) => `{"id":${id}}`)].join("\n"));
    const { key } = await service.createKey();
    for (const id of cancelled) await service.call(key, `/v1/store/orders/${id}`, { method: "DELETE" });
    const { page } = await openConsole(browser, service, "/console/orders?petId=94");
    const pagesOf = (list: string) => page.getByRole("navigation", { name: `Pages of ${list} orders` });
    const go = (list: string, where: string) => pagesOf(list).getByRole("link", { name: where }).click();
    const query = () => Object.fromEntries(new URL(page.url()).searchParams);
    await go("all", "Next page");
    await page.getByRole("link", { name: "940060" }).waitFor();
    expect(query()).toEqual({ petId: "94", after: "940050" });
    await go("cancelled", "Next page");
    await pagesOf("cancelled").getByRole("link", { name: "First page" }).waitFor();
    const { before } = query();
    expect(query()).toEqual({ petId: "94", after: "940050", before: expect.stringMatching(/^\d+$/) });
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel("Status").selectOption("pending");
    await page.waitForURL("**status=pending**");
    expect(query()).toEqual({ petId: "94", status: "pending", before });
    await go("all", "Next page");
    await page.waitForURL("**after=940050**");
    await go("all", "First page");
    await page.waitForURL((url) => !url.searchParams.has("after"));
    await go("cancelled", "First page");
    await page.waitForURL((url) => !url.searchParams.has("before"));
    expect(query()).toEqual({ petId: "94", status: "pending" });
    await page.close();
  });

  it("do not say that they are filtered by what is no pet id", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/orders");
    const pet = page.getByLabel("Pet id");
    for (const [typed, petId] of [
      ["95,", null],
      [" 95 ", "95"],
      ["pet", null],
      ["2", "2"],
    ]) {
      await pet.fill(typed ?? "");
      const status = petId === null ? "pending" : "";
      await page.getByLabel("Status").selectOption(status);
      await page.waitForURL((url) => (url.searchParams.get("status") ?? "") === status);
      expect(new URL(page.url()).searchParams.get("petId")).toBe(petId);
      expect(await pet.inputValue()).toBe(petId ?? "");
    }
    await page.close();
  });
});
