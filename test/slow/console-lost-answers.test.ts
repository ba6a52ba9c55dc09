/** The console in a browser after a change whose answer was lost: what the page shows behind its dialog, and what is said. */
import type { Page, Route } from "playwright-core";
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

/** The service makes the first such change, but its answer does not arrive. */
async function loseAnswer(page: Page, url: string | RegExp, method: string, status?: number): Promise<void> {
  let isLost = false;
  await page.route(url, async (route: Route) => {
    if (isLost || route.request().method() !== method) return route.fallback();
    isLost = true;
    await route.fetch();
    return status === undefined ? route.abort() : route.fulfill({ status, body: "a proxy's page" });
  });
}

async function cancelAfterFailure(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("alert").getByText("first look whether it was made.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "hidden" });
}

describe.skipIf(executablePath === undefined)("the page behind a change whose answer was lost", () => {
  it("shows the new limits of the plan", async () => {
    const { page } = await openConsole(browser, service, "/console/plans");
    for (const [status, perMinute] of [
      [undefined, "301"] as const,
      [503, "302"] as const,
      [504, "300"] as const,
    ]) {
      await loseAnswer(page, "**/admin/plans/pro", "PATCH", status);
      await page.getByRole("button", { name: "Change limits: pro…" }).click();
      await page.getByLabel("Requests per minute").fill(perMinute);
      await confirm(page);
      await cancelAfterFailure(page);
      await page.getByRole("row", { name: new RegExp(`^pro ${perMinute} `) }).waitFor();
      await page.unroute("**/admin/plans/pro");
    }
    await page.close();
  });

  it("is taken back by a second try with the value of before", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/plans");
    await loseAnswer(page, "**/admin/plans/pro", "PATCH", 504);
    await page.getByRole("button", { name: "Change limits: pro…" }).click();
    const perMinute = page.getByLabel("Requests per minute");
    const before = await perMinute.inputValue();
    await perMinute.fill("12");
    await confirm(page);
    await page.getByRole("row", { name: /^pro 12 / }).waitFor();
    await perMinute.fill(before);
    await confirm(page);
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    const { body } = await service.admin("GET", "/plans");
    expect(body.plans).toContainEqual(
      expect.objectContaining({ id: "pro", requestsPerMinute: Number(before) }),
    );
    await page.close();
  });

  it("of an order, is not taken back without a look, and says so", async ({ expect }) => {
    await service.db.exec("insert into orders (id, pet_id, quantity, status) values (981, 7, 1, 'pending')");
    const { page } = await openConsole(browser, service, "/console/orders/981");
    await loseAnswer(page, "**/admin/orders/981", "PATCH", 504);
    await page.getByRole("button", { name: "Change status…" }).click();
    await confirm(page);
    const alert = page.getByRole("dialog").getByRole("alert");
    await alert.getByText("The service answered 504.").waitFor();
    await page.getByLabel("New status").selectOption("pending");
    await confirm(page);
    await alert.getByText("This was changed after the dialog was opened.").waitFor();
    expect((await service.admin("GET", "/orders/981")).body.status).not.toBe("pending");
    await page.close();
  });

  it("shows the change in the history of the key", async () => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByText("No changes and no bans.").waitFor();
    await loseAnswer(page, `**/admin/keys/${id}`, "PATCH");
    await page.getByRole("button", { name: "Disable…" }).click();
    await confirm(page);
    await cancelAfterFailure(page);
    await page
      .getByRole("table", { name: "What happened" })
      .getByRole("row", { name: /tester/ })
      .waitFor();
    await page.close();
  });

  it("shows no ban that was lifted, and the second try says what may have changed it", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/bans?key=${id}`);
    await page.getByText("No key is banned.").waitFor();
    await loseAnswer(page, "**/ban", "PUT");
    await page.getByRole("button", { name: "Ban a key…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Key", { exact: true }).fill(id);
    await page.keyboard.press("Enter");
    await dialog.getByLabel("Reason").fill("noisy");
    await confirm(page);
    await cancelAfterFailure(page);
    await loseAnswer(page, "**/ban", "DELETE");
    await page.getByRole("button", { name: "Lift: test…" }).click();
    await confirm(page);
    await dialog.getByRole("alert").getByText("could not be reached").waitFor();
    await page.getByText("No key is banned.").waitFor();
    await confirm(page);
    const alert = dialog.getByRole("alert").filter({ hasText: "This was changed after the dialog" });
    expect(await alert.textContent()).toContain("or an earlier try of yours whose answer was lost");
    await page.close();
  });

  it("keeps what it shows if it cannot be loaded either, and the dialog says what failed first", async ({
    expect,
  }) => {
    const { id } = await service.createKey();
    await service.admin("PATCH", `/keys/${id}`, { note: "a note" });
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    const audit = page.getByRole("table", { name: "What happened" });
    await audit.getByRole("row", { name: /keys\.update/ }).waitFor();
    await page.route("**/admin/**", (route) => route.fulfill({ status: 504, body: "a proxy's page" }));
    await loseAnswer(page, `**/admin/keys/${id}`, "PATCH");
    await page.getByRole("button", { name: "Disable…" }).click();
    await confirm(page);
    await page.locator("main > .notice").getByText("The service answered 504.").waitFor();
    await page
      .getByRole("dialog")
      .getByRole("alert")
      .getByText("The service could not be reached.")
      .waitFor();
    expect(await audit.getByRole("row", { name: /keys\.update/ }).count()).toBe(1);
    await page.close();
  });

  it("is not called unfinished by the sign-in page if it was refused", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Rotate…" }).click();
    await page.getByRole("dialog").waitFor();
    await page.route("**/rotate", async (route) => {
      await page.route(`**/admin/keys/${id}`, (reload) => reload.fulfill({ status: 401, json: {} }));
      await route.fulfill({ status: 409, json: { message: "The key is revoked." } });
    });
    await confirm(page);
    await page.getByText("The service refused the admin token.").waitFor();
    expect(await page.getByText("Not finished at the sign-out").count()).toBe(0);
    await page.close();
  });

  it("is called unfinished, once, if the look of the next try is answered 401", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Rotate…" }).click();
    await page.getByRole("dialog").waitFor();
    await loseAnswer(page, "**/rotate", "POST", 504);
    await confirm(page);
    await page.getByRole("dialog").getByText("The service answered 504.").waitFor();
    await page.route(`**/admin/keys/${id}`, (route) => route.fulfill({ status: 401, json: {} }));
    await confirm(page);
    const unfinished = page.getByText("Not finished at the sign-out");
    await unfinished.waitFor();
    expect((await unfinished.textContent())?.match(/Rotate test/g)).toHaveLength(1);
    await page.close();
  });

  it("is called unfinished after a 401 only if it can have been made by an earlier try", async ({
    expect,
  }) => {
    for (const lost of [0, 1]) {
      const { page } = await openConsole(browser, service, "/console/keys/new");
      await page.getByLabel("Name", { exact: true }).fill("acme");
      await page.route("**/admin/keys", (route) => route.fulfill({ status: 401, json: {} }));
      if (lost > 0) {
        await loseAnswer(page, "**/admin/keys", "POST", 504);
        await loseAnswer(page, "**/admin/keys", "POST", 504);
      }
      const create = page.getByRole("button", { name: "Create", exact: false });
      await create.click();
      if (lost > 0) {
        await page.getByText("The service answered 504.").waitFor();
        expect(await page.evaluate("document.activeElement.textContent")).toBe("Create key");
        // The next tries are of other keys; the last one is refused.
        for (const name of ["alpha", "beta"]) {
          await page.getByLabel("Name", { exact: true }).fill(name);
          await create.click();
          if (name === "alpha") await page.getByText("The service answered 504.").waitFor();
        }
      }
      await page.getByText("The service refused the admin token.").waitFor();
      const unfinished = page.getByText("Not finished at the sign-out: Create key acme; Create key alpha.");
      expect(await unfinished.count()).toBe(lost);
      expect(await page.getByText("Create key beta").count()).toBe(0);
      await page.close();
    }
  });
});

describe.skipIf(executablePath === undefined)(
  "the sign-in page after a form whose first try was lost",
  () => {
    const REFUSED = { status: 401, json: {} };

    async function unfinishedOf(page: Page): Promise<string | undefined> {
      await page.getByText("The service refused the admin token.").waitFor();
      const alerts = await page.getByRole("alert").allTextContents();
      return alerts.find((text) => text.startsWith("Not finished"))?.split(".")[0];
    }

    /** What is refused once this change is made. */
    async function afterChange(
      page: Page,
      url: string,
      method: string,
      refuse: (page: Page) => Promise<unknown>,
    ): Promise<void> {
      await page.route(url, async (route) => {
        if (route.request().method() !== method) return route.fallback();
        const response = await route.fetch();
        await refuse(page);
        await route.fulfill({ response });
      });
    }

    it("names it after a try of another change, too, whatever is refused", async ({ expect }) => {
      const idOf = async (name: string) =>
        String((await service.admin("POST", "/keys", { name, plan: "free" })).body.id);
      const beta = await idOf("beta");
      const refuseBan = (page: Page) => page.route(`**/keys/${beta}/ban`, (route) => route.fulfill(REFUSED));
      // Of the key that was found, and of the page after the ban.
      const refuseBans = (page: Page) => page.route("**/admin/bans?*", (route) => route.fulfill(REFUSED));
      const refuseAfterBan = (page: Page) => afterChange(page, `**/keys/${beta}/ban`, "PUT", refuseBans);
      for (const refuse of [refuseBan, refuseBans, refuseAfterBan]) {
        const { page } = await openConsole(browser, service, "/console/bans");
        await loseAnswer(page, "**/ban", "PUT", 504);
        await page.getByRole("button", { name: "Ban a key…" }).click();
        const dialog = page.getByRole("dialog");
        const key = dialog.getByLabel("Key", { exact: true });
        await key.fill(await idOf("alpha"));
        await page.keyboard.press("Enter");
        await dialog.getByLabel("Reason").fill("noisy");
        await confirm(page);
        await dialog.getByText("The service answered 504.").waitFor();
        await refuse(page);
        await key.fill(beta);
        await page.keyboard.press("Enter");
        if (refuse !== refuseBans) {
          await dialog.getByLabel("Reason").fill("noisy");
          await confirm(page);
        }
        expect(await unfinishedOf(page)).toBe("Not finished at the sign-out: Ban alpha");
        await page.close();
      }
    });

    it("does not name it after a try of the same change that worked", async ({ expect }) => {
      const { page } = await openConsole(browser, service, "/console/plans");
      await loseAnswer(page, "**/admin/plans/pro", "PATCH", 504);
      await page.getByRole("button", { name: "Change limits: pro…" }).click();
      await page.getByLabel("Requests per minute").fill("301");
      await confirm(page);
      await page.getByRole("dialog").getByText("The service answered 504.").waitFor();
      await page.getByLabel("Requests per minute").fill("300");
      await afterChange(page, "**/admin/plans/pro", "PATCH", () =>
        page.route("**/admin/plans", (route) => route.fulfill(REFUSED)),
      );
      await confirm(page);
      expect(await unfinishedOf(page)).toBe(undefined);
      await page.close();
    });

    it("names an import before the check of its file, but none of a file that cannot be imported", async ({
      expect,
    }) => {
      for (const [text, problem, names] of [
        ['{"id":982}', "The service answered 504.", "Not finished at the sign-out: Import of a"],
        ["[", "is not valid JSON", undefined],
      ] as const) {
        const { page } = await openConsole(browser, service, "/console/orders/import");
        await loseAnswer(page, "**/admin/orders?import=*", "POST", 504);
        const file = { name: "a.json", mimeType: "application/json", buffer: Buffer.from(text) };
        await page.locator("input[type=file]").setInputFiles(file);
        await page.getByRole("button", { name: "Import", exact: true }).click();
        await page.getByRole("alert").getByText(problem).waitFor();
        await page.route("**/admin/orders?dry-run=*", (route) => route.fulfill(REFUSED));
        const good = { ...file, buffer: Buffer.from('{"id":982}') };
        await page.locator("input[type=file]").setInputFiles(good);
        await page.getByRole("button", { name: "Check only" }).click();
        expect(await unfinishedOf(page)).toBe(names);
        await page.close();
      }
    });
  },
);
