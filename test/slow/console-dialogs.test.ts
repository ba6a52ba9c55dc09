/** The console in a browser while another operator changes the same things, who here calls the admin API. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { maskKey } from "../../src/worker/auth/key.ts";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { confirm, headingAt, openConsole } from "../support/console.ts";
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

/** As when the tab was hidden and is shown again. Waits until the answer is on the page. */
async function refresh(page: Page): Promise<void> {
  const refreshed = page.waitForResponse(/\/admin\/keys\/[^/?]+$/);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await (await refreshed).finished();
}

const sayThatItChanged = (page: Page) =>
  page.getByRole("dialog").getByRole("alert").getByText("Close the dialog and open it again").waitFor();

describe.skipIf(executablePath === undefined)("a dialog that is open while another operator", () => {
  it("disables the same key still disables it", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Disable…" }).click();
    await service.admin("PATCH", `/keys/${id}`, { disabled: true });
    await refresh(page);
    await page.locator(".id").getByText("disabled").waitFor();
    await confirm(page);
    await page.getByRole("status").getByText("test is disabled, effective").waitFor();
    expect((await service.admin("GET", `/keys/${id}`)).body.status).toBe("disabled");
    await page.close();
  });

  it("rotates the same key says what it said when it opened, if it retires a secret", async ({ expect }) => {
    const { id } = await service.createKey();
    const { body } = await service.admin("POST", `/keys/${id}/rotate`, { graceSeconds: 600 });
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: `Retire secret ${maskKey(String(body.key))}…` }).click();
    const warning = page
      .getByRole("dialog")
      .getByText(/^The last of them ends .+ Rotate the key before then/);
    await warning.waitFor();
    await service.admin("POST", `/keys/${id}/rotate`, { graceSeconds: 600 });
    await refresh(page);
    await expect
      .poll(() => page.getByRole("button", { name: /^Retire secret/, includeHidden: true }).count())
      .toBe(3);
    expect(await warning.count()).toBe(1);
    await page.close();
  });

  it("replaces the ban does not lift the new one", async ({ expect }) => {
    const { id } = await service.createKey();
    await service.admin("PUT", `/keys/${id}/ban`, { seconds: 630, reason: "polling too fast" });
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Lift ban…" }).click();
    const dialog = page.getByRole("dialog", { name: "Lift the ban of test?" });
    await dialog.getByText("polling too fast").waitFor();
    await dialog.getByText("unless it is disabled, expired or revoked").waitFor();
    expect(await dialog.locator("dd").allTextContents()).toEqual([
      "operator",
      "polling too fast",
      expect.anything(),
      expect.stringMatching(/, in 10 min \d\d s$/),
    ]);
    await service.admin("PUT", `/keys/${id}/ban`, { seconds: 86_400, reason: "key leaked, do not lift" });
    await refresh(page);
    await dialog.getByText("polling too fast").waitFor();
    await confirm(page);
    await sayThatItChanged(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Ban…", exact: true }).click();
    await page.getByRole("dialog", { name: "Ban test?" }).getByText("key leaked, do not lift").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Lift ban…" }).click();
    await dialog.getByText("key leaked, do not lift").waitFor();
    await confirm(page);
    await page.getByRole("status").getByText("The ban is lifted, effective immediately.").waitFor();
    await page.close();
  });

  it("sets a ban does not replace it", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    const shown = page.waitForResponse(/\/admin\/bans\?/);
    await page.getByRole("button", { name: "Ban…", exact: true }).click();
    await (await shown).finished();
    await page.getByLabel("Reason").fill("noisy");
    await service.admin("PUT", `/keys/${id}/ban`, { seconds: 86_400, reason: "key leaked" });
    await confirm(page);
    await sayThatItChanged(page);
    const { body } = await service.admin("GET", `/bans?key=${id}`);
    expect(body.bans).toMatchObject([{ reason: "key leaked", live: true }]);
    await page.close();
  });

  it("sets a ban at the same moment names the ban that it replaces", async ({ expect }) => {
    const { id } = await service.createKey();
    await service.admin("PUT", `/keys/${id}/ban`, { seconds: 630, reason: "polling too fast" });
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    // Between the dialog's look at the live bans and its change.
    await page.route(`**/admin/keys/${id}/ban`, async (route) => {
      await service.admin("PUT", `/keys/${id}/ban`, { seconds: 86_400, reason: "key leaked" });
      await route.continue();
    });
    await page.getByRole("button", { name: "Ban…", exact: true }).click();
    await page.getByRole("dialog").getByText("polling too fast").waitFor();
    await page.getByLabel("Reason").fill("noisy");
    await confirm(page);
    const said = page.getByRole("status").getByText("It replaced 1 ban that the dialog did not show");
    expect(await said.textContent()).toMatch(/show: operator, until .* \(key leaked\)\.$/);
    await page.close();
  });

  it("rotates the same key does not end the new secret", async ({ expect }) => {
    const { id, key } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Rotate…" }).click();
    await page.getByRole("dialog").getByText(maskKey(key)).waitFor();
    const { body } = await service.admin("POST", `/keys/${id}/rotate`, {});
    await page.getByLabel("Old secrets work for").selectOption("0");
    await confirm(page);
    await sayThatItChanged(page);
    expect((await service.call(body.key, "/v1/no-such-path")).status).toBe(404);
    await page.close();
  });

  it("changes the order does not set its status back", async ({ expect }) => {
    await service.admin("POST", "/orders", '{"id":870001,"status":"shipped"}');
    const setStatus = (status: string) =>
      service.admin("PATCH", "/orders/870001", { status, allowBackwards: true });
    const { page } = await openConsole(browser, service, "/console/orders/870001");
    const change = page.getByRole("button", { name: "Change status…" });
    await change.waitFor();
    await setStatus("delivered");
    await change.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It is delivered now.").waitFor();
    await setStatus("shipped");
    await dialog.getByLabel("New status").selectOption("processing");
    await confirm(page);
    await sayThatItChanged(page);
    expect((await service.admin("GET", "/orders/870001")).body.status).toBe("shipped");
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("a change of a plan", () => {
  it("shows its limits of now, and sends only the changed one", async ({ expect }) => {
    const { body } = await service.admin("GET", "/plans");
    const before = JSON.stringify(body.plans);
    const { page } = await openConsole(browser, service, "/console/plans");
    const change = page.getByRole("button", { name: "Change limits: pro…" });
    await change.waitFor();
    await service.admin("PATCH", "/plans/pro", { requestsPerMinute: 30 });
    await change.click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Requests per minute").inputValue()).toBe("30");
    await service.admin("PATCH", "/plans/pro", { requestsPerMinute: 31 });
    await dialog.getByLabel("Requests per day").fill("12000");
    const sent = page.waitForRequest((request) => request.url().endsWith("/admin/plans/pro"));
    await confirm(page);
    expect((await sent).postDataJSON()).toEqual({ requestsPerDay: 12_000 });
    await page.getByRole("row", { name: /^pro 31 12,000/ }).waitFor();
    const { requestsPerMinute, requestsPerDay } = JSON.parse(before).find(
      ({ id }: { id: string }) => id === "pro",
    );
    await service.admin("PATCH", "/plans/pro", { requestsPerMinute, requestsPerDay });
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("a dialog that could not be loaded at first", () => {
  it("leaves the focus on the page's title", async () => {
    const { page } = await openConsole(browser, service, "/console/plans");
    const change = page.getByRole("button", { name: "Change limits: free…" });
    await change.waitFor();
    await page.route("**/admin/plans", (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
    await change.click();
    await page.getByRole("dialog", { name: "It could not be loaded" }).waitFor();
    await confirm(page);
    const dialog = page.getByRole("dialog", { name: "Change the limits of free?" });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await page.locator("h1:focus").waitFor();
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the import page", () => {
  it("lists an import that broke off", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/orders/import");
    const lines = Array.from({ length: 5_001 }, (_, i) => `{"id":${600_000 + i}}`);
    const buffer = Buffer.from(lines.join("\n"));
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "b.ndjson", mimeType: "text/plain", buffer });
    await page.route("**/admin/orders?import=*from=5000*", (route) =>
      route.fulfill({ status: 400, json: {} }),
    );
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("heading", { name: "Not finished" }).waitFor();
    await page.getByRole("row", { name: /^b\.ndjson .* tester .*5,000 0 0 0 0 0/ }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(1);
    await page.close();
  });

  it("says nothing of a failure once another file is chosen", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/orders/import");
    await page.route("**/admin/orders?*", (route) => route.fulfill({ status: 500, json: {} }));
    const choose = (name: string) =>
      page
        .locator("input[type=file]")
        .setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from('{"id":1}') });
    for (const action of ["Import", "Check only"]) {
      await choose("f.ndjson");
      await page.getByRole("button", { name: action, exact: true }).click();
      await page.getByRole("alert").getByText("The service answered 500.").waitFor();
      await choose("g.ndjson");
      await page.getByText("g.ndjson, 8 bytes").waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
    }
    await page.close();
  });

  it("takes no other file during an import, which the sign-out ends", async ({ expect }) => {
    const { page, problems, requested } = await openConsole(browser, service, "/console/orders/import");
    const lines = Array.from({ length: 6_000 }, (_, i) => `{"id":${500_000 + i}}`);
    const file = page.locator("input[type=file]");
    const buffer = Buffer.from(lines.join("\n"));
    await file.setInputFiles({ name: "a.ndjson", mimeType: "application/json", buffer });
    // Never answered.
    await page.route("**/admin/orders?import=*", () => {});
    const asked = page.waitForRequest(/import=imp_/);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await asked;
    expect(await file.isDisabled()).toBe(true);
    const ended = page.waitForEvent("requestfailed");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin token").waitFor();
    expect((await ended).url()).toContain("import=imp_");
    expect(requested.filter((url) => url.includes("import=imp_"))).toHaveLength(1);
    expect(problems.filter((problem) => !problem.includes("import=imp_"))).toEqual([]);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("an address that is not valid", () => {
  it("shows a message, and the navigation goes on", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/keys/%E0%A4%A");
    await headingAt(page, "This page cannot be shown");
    await page.getByRole("link", { name: "Orders", exact: true }).click();
    await headingAt(page, "Orders");
    await page.goto(new URL("/console/orders/imports", service.url).href);
    await page.getByRole("alert").getByText("No order has this id.").waitFor();
    expect(await page.getByRole("link", { name: "Keys", exact: true }).count()).toBe(1);
    await page.close();
  });
});
