/** The console in a browser while a call is under way: what the operator does meanwhile, and what is said of the call. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, findBrowser, openBrowser, SCREENS } from "../support/browser.ts";
import { confirm, headingAt, openConsole } from "../support/console.ts";
import { ADMIN_TOKEN, openService, type Service } from "../support/service.ts";

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

async function choose(page: Page, name: string, text = '{"id":1}'): Promise<void> {
  const file = { name, mimeType: "text/plain", buffer: Buffer.from(text) };
  await page.locator("input[type=file]").setInputFiles(file);
}

/** Starts to import a file, and goes to another page. */
async function leaveImport(page: Page, name: string, text?: string): Promise<void> {
  await choose(page, name, text);
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await headingAt(page, "Keys");
}

/** Holds calls until it is called. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe.skipIf(executablePath === undefined)("a dialog that loads what it shows", () => {
  it("does not open if the focus has moved meanwhile", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/plans");
    const change = page.getByRole("button", { name: "Change limits: free…" });
    await change.waitFor();
    const focused = () => page.evaluate<string>("document.activeElement.value ?? ''");
    for (const leaves of [true, false]) {
      const { open, opened } = gate();
      await page.route("**/admin/plans", (route) => opened.then(() => route.continue()));
      const asked = page.waitForRequest("**/admin/plans");
      await change.click();
      await asked;
      if (leaves) await page.keyboard.type("/4");
      const loaded = page.waitForResponse("**/admin/plans");
      open();
      await (await loaded).finished();
      await page.unroute("**/admin/plans");
      if (!leaves) await page.getByRole("dialog").waitFor();
      else await page.waitForTimeout(200);
      expect(await focused()).toBe(leaves ? "4" : "60");
    }
    await page.close();
  });
});

const cancelOf = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Cancel" });

/** Chromium lets a page prevent one Escape after each gesture of the user, which it takes the look of `waitFor` for. */
async function closeByEscapes(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog");
  await page.keyboard.press("Escape");
  await dialog.waitFor();
  for (const key of ["Escape", "Escape"]) await page.keyboard.press(key);
  await dialog.waitFor({ state: "hidden" });
}

describe.skipIf(executablePath === undefined)("a dialog that is left while it runs", () => {
  it("sends no change after its look", async ({ expect }) => {
    await service.admin("POST", "/orders", '{"id":870002}');
    await service.admin("POST", "/orders", '{"id":870003}');
    const { page } = await openConsole(browser, service, "/console/orders/870002");
    await page.getByRole("link", { name: "Orders", exact: true }).first().click();
    await page.getByLabel("Order id").fill("870003");
    await page.keyboard.press("Enter");
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.method()));
    for (const leave of [() => closeByEscapes(page), () => page.goBack().then(() => page.goBack())]) {
      await page.getByRole("button", { name: "Delete…" }).click();
      await page.getByRole("dialog").waitFor();
      const { open, opened } = gate();
      await page.route("**/admin/orders/870003", (route) => opened.then(() => route.continue()));
      const looking = page.waitForRequest("**/admin/orders/870003");
      await confirm(page);
      await looking;
      expect(await cancelOf(page).isDisabled()).toBe(true);
      await leave();
      const looked = page.waitForResponse("**/admin/orders/870003");
      open();
      await (await looked).finished();
      await page.unroute("**/admin/orders/870003");
    }
    // The other order's page opens no dialog by itself.
    await headingAt(page, "Order 870002");
    await page.getByRole("button", { name: "Delete…" }).waitFor();
    await page.waitForTimeout(200);
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.locator(".toast").textContent()).toBe("");
    expect(sent).not.toContain("DELETE");
    await page.close();
  });

  it("announces that it failed", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    const { open, opened } = gate();
    await page.route(`**/admin/keys/${id}`, async (route) => {
      if (route.request().method() === "GET") return route.continue();
      await opened;
      await route.fulfill({ status: 503, json: {} });
    });
    await page.getByRole("button", { name: "Disable…" }).click();
    await confirm(page);
    await closeByEscapes(page);
    open();
    const said = page.locator(".toast").getByText("Disable test: The service is not available");
    expect(await said.textContent()).toContain("first look whether it was made.");
    await page.close();
  });

  it("shows no secret, which may not be the newest one any more", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    const { open, opened } = gate();
    let rotations = 0;
    await page.route("**/rotate", async (route) => {
      const response = await route.fetch();
      if (++rotations === 1) await opened;
      await route.fulfill({ response });
    });
    const rotate = () => page.getByRole("button", { name: "Rotate…" }).click();
    await rotate();
    const stored = page.waitForRequest("**/rotate");
    await confirm(page);
    await stored;
    await closeByEscapes(page);
    await rotate();
    await confirm(page);
    const shown = (await page.locator(".secret code").textContent()) ?? "";
    open();
    await page.locator(".toast").getByText("It was not shown: rotate the key again.").waitFor();
    // So it stays until then.
    await page.getByRole("button", { name: "Dismiss" }).waitFor();
    expect(await page.locator(".secret code").textContent()).toBe(shown);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the fields of a dialog", () => {
  it("cannot be changed while it makes its change, and keep what was typed if that fails", async ({
    expect,
  }) => {
    for (const name of ["zebra one", "zebra two"])
      await service.admin("POST", "/keys", { name, plan: "free" });
    const { page } = await openConsole(browser, service, "/console/bans");
    await page.getByRole("button", { name: "Ban a key…" }).click();
    const dialog = page.getByRole("dialog");
    const key = dialog.getByLabel("Key", { exact: true });
    await key.fill("zebra");
    await confirm(page);
    await dialog.getByLabel("Keys found").selectOption({ index: 1 });
    await dialog.getByLabel("Reason").fill("abuse");
    const { open, opened } = gate();
    await page.route("**/ban", async (route) => {
      await opened;
      await route.fulfill({ status: 503, json: {} });
    });
    const sent = page.waitForRequest("**/ban");
    await page.keyboard.press("Enter");
    await sent;
    for (const field of [key, dialog.getByLabel("Keys found"), dialog.getByLabel("Reason"), cancelOf(page)])
      expect(await field.isDisabled()).toBe(true);
    open();
    await dialog.getByRole("alert").waitFor();
    expect(await dialog.getByLabel("Reason").inputValue()).toBe("abuse");
    expect(await page.evaluate("document.activeElement.value")).toBe("abuse");
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("a page that is left during its change", () => {
  it("names the key whose secret was not shown, also after a sign-out", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/keys/new");
    const { open, opened } = gate();
    await page.route("**/admin/keys", (route) => opened.then(() => route.continue()));
    await page.getByLabel("Name", { exact: true }).fill("left");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("link", { name: "All keys" }).click();
    await headingAt(page, "Keys");
    open();
    await page.getByText("left was created, but its secret was not shown: rotate the key.").waitFor();
    await page.getByRole("link", { name: "Create key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("last");
    // Never answered.
    await page.route("**/admin/keys", () => {});
    const sent = page.waitForRequest("**/admin/keys");
    await page.getByRole("button", { name: "Create key" }).click();
    await sent;
    await page.getByRole("button", { name: "Sign out" }).click();
    expect(await page.getByRole("alert").textContent()).toMatch(
      /^Not finished at the sign-out: Create key last\. .* A new secret was not shown: rotate the key\.$/,
    );
    await page.close();
  });

  it("announces each failure until it is dismissed", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/orders/import");
    const { open, opened } = gate();
    await page.route(/\/admin\/(orders\?import=.*|keys)$/, async (route) => {
      if (route.request().method() === "GET") return route.continue();
      await opened;
      await route.fulfill({ status: 500, json: {} });
    });
    await leaveImport(page, "c.ndjson");
    await page.getByRole("link", { name: "Create key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("left");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("link", { name: "Plans", exact: true }).click();
    await headingAt(page, "Plans");
    await page.clock.install();
    open();
    const toast = page.locator(".toast");
    await toast.getByText("Import of c.ndjson: The service answered 500.").waitFor();
    await toast.getByText("Create key left: The service answered 500.").waitFor();
    await page.clock.runFor(60_000);
    for (const [screen, colorScheme] of [["desk", "light"] as const, ["phone", "dark"] as const]) {
      await page.setViewportSize(SCREENS[screen]);
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(SCREENS[screen].width);
    }
    // They are still to be known after a sign-out.
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin token").waitFor();
    const dismiss = toast.getByRole("button", { name: "Dismiss", exact: true });
    expect(await dismiss.count()).toBe(2);
    await dismiss.first().press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await toast.textContent()).toBe("");
    await page.close();
  });

  it("announces that the import stopped, and the list says it, too", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/orders/import");
    const { open, opened } = gate();
    await page.route("**/admin/orders?import=*", async (route) => {
      const response = await route.fetch();
      await opened;
      await route.fulfill({ response });
    });
    await leaveImport(page, "e.ndjson", Array.from({ length: 1_001 }, () => '{"id":1.5}').join("\n"));
    open();
    const said = page.locator(".toast").getByText("The import of e.ndjson stopped: ");
    expect(await said.textContent()).toContain("Refused lines: 1,000. Check the file to see them.");
    await page.getByRole("button", { name: "Dismiss" }).waitFor();
    await page.goBack();
    await page.getByRole("row", { name: /^e\.ndjson .* 1,000, stopped/ }).waitFor();
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("two equal messages", () => {
  it("are shown each for its own eight seconds", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/plans");
    await page.clock.install();
    const messages = page.getByRole("status").getByText("Plan free is changed, effective immediately.");
    for (const perMinute of ["61", "60"]) {
      await page.getByRole("button", { name: "Change limits: free…" }).click();
      await page.getByLabel("Requests per minute").fill(perMinute);
      await confirm(page);
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      await page.clock.runFor(perMinute === "61" ? 4_000 : 100);
    }
    expect(await messages.count()).toBe(2);
    await page.clock.runFor(4_100);
    expect(await messages.count()).toBe(1);
    await page.clock.runFor(4_000);
    expect(await messages.count()).toBe(0);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the sign-in page after a 401", () => {
  const refusals = (page: Page) => page.getByRole("alert").allTextContents();

  it("names a rotation that was under way when another call was refused", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Rotate…" }).click();
    await page.getByRole("dialog").waitFor();
    // Never answered.
    await page.route("**/rotate", () => {});
    const sent = page.waitForRequest("**/rotate");
    await confirm(page);
    await sent;
    await closeByEscapes(page);
    await page.route("**/admin/plans", (route) => route.fulfill({ status: 401, json: {} }));
    await page.getByRole("link", { name: "Plans", exact: true }).click();
    await page.getByText("The service refused the admin token.").waitFor();
    expect(await refusals(page)).toEqual([
      expect.stringMatching(/^Not finished at the sign-out: Rotate test\. .* rotate the key\.$/),
      expect.stringContaining("ADMIN_TOKEN"),
    ]);
    await page.close();
  });

  it("names no change that was not sent, and none that is done", async ({ expect }) => {
    const { id } = await service.createKey();
    for (const action of ["Rotate", "Disable"]) {
      const { page } = await openConsole(browser, service, `/console/keys/${id}`);
      await page.getByRole("button", { name: `${action}…` }).click();
      await page.getByRole("dialog").waitFor();
      // The look before the rotation, and the reload after the key was disabled.
      await page.route(`**/admin/keys/${id}`, (route) =>
        route.request().method() === "GET" ? route.fulfill({ status: 401, json: {} }) : route.continue(),
      );
      await confirm(page);
      await page.getByText("The service refused the admin token.").waitFor();
      expect(await refusals(page)).toEqual([expect.stringContaining("ADMIN_TOKEN")]);
      await page.close();
    }
    expect((await service.admin("GET", `/keys/${id}`)).body).toMatchObject({ status: "disabled" });
  });

  it("names a rotation whose secret was covered by its dialog until the end", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Rotate…" }).click();
    await page.getByRole("dialog").waitFor();
    await page.route("**/rotate", async (route) => {
      const response = await route.fetch();
      await page.route(`**/admin/keys/${id}`, (reload) => reload.fulfill({ status: 401, json: {} }));
      await route.fulfill({ response });
    });
    await confirm(page);
    await page.getByText("The service refused the admin token.").waitFor();
    expect((await refusals(page))[0]).toMatch(
      /: Rotate test\. .* A new secret was not shown: rotate the key\.$/,
    );
    await page.close();
  });

  it("names an import that was refused itself, and what to do without a token", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/plans");
    // As after "Use Cloudflare Access".
    await page.addInitScript(`sessionStorage.setItem("store-orders-console", '{"token":"","operator":""}')`);
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    await page.route("**/admin/**", (route) =>
      route.continue({ headers: { ...route.request().headers(), ...headers } }),
    );
    await page.goto(new URL("/console/orders/import", service.url).href);
    const { open, opened } = gate();
    await page.route("**/admin/orders?import=*", async (route) => {
      await opened;
      await route.fulfill({ status: 401, json: {} });
    });
    await leaveImport(page, "d.ndjson");
    open();
    await page.getByText("Not finished at the sign-out: Import of d.ndjson.").waitFor();
    expect((await refusals(page))[1]).toMatch(/^Cloudflare Access does not say who you are\./);
    await page.close();
  });

  it("names an import, of which it says nothing about secrets, but not the check of a file", async ({
    expect,
  }) => {
    for (const action of ["Import", "Check only"]) {
      const { page } = await openConsole(browser, service, "/console/orders/import");
      await choose(page, "h.ndjson");
      // Never answered.
      await page.route("**/admin/orders?*", () => {});
      const sent = page.waitForRequest("**/admin/orders?*");
      await page.getByRole("button", { name: action, exact: true }).click();
      await sent;
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Admin token").waitFor();
      const text =
        "Not finished at the sign-out: Import of h.ndjson. All or a part of it may be done: look after the sign-in.";
      expect(await refusals(page)).toEqual(action === "Import" ? [text] : []);
      await page.close();
    }
  });
});
