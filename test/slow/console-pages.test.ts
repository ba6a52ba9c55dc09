/** Every page of the console in a browser: axe-core finds nothing in both colour schemes, and no page is wider than a phone. What a refresh changes. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, findBrowser, openBrowser, SCREENS } from "../support/browser.ts";
import { confirm, openConsole } from "../support/console.ts";
import { NO_SUCH_PATH, openService, type Service, untilMinuteHas } from "../support/service.ts";

const executablePath = findBrowser();

let service: Service;
let browser: Browser;
let keyId: string;
/** The folder for screenshots. Without it, none are taken. */
const shots = process.env.SCREENSHOTS;

beforeAll(async () => {
  service = await openService();
  if (executablePath !== undefined) browser = await openBrowser(executablePath);
  const { id, key } = await service.createKey({ plan: "free" });
  keyId = id;
  await service.admin("POST", "/orders", '{"id":7,"petId":3,"quantity":2}\n{"id":8,"petId":3,"quantity":2}');
  await service.call(key, "/v1/store/orders/7", { method: "DELETE" });
  await Promise.all(Array.from({ length: 70 }, () => service.call(key, NO_SUCH_PATH)));
  const ban = { seconds: 3_600, reason: "a reason of some length" };
  await service.admin("PUT", `/keys/${id}/ban`, ban);
  await service.admin("DELETE", `/keys/${id}/ban`);
  await service.admin("PUT", `/keys/${id}/ban`, ban);
});

afterAll(async () => {
  await browser?.close();
});

/** The pages, with a text that is there once all of the page is loaded. */
const PAGES = [
  ["overview", () => "/console", "operator"],
  ["keys", () => "/console/keys", "Last used"],
  ["create-key", () => "/console/keys/new", "Location"],
  ["key", () => `/console/keys/${keyId}`, "bans.set"],
  ["bans", () => "/console/bans", "Ended by"],
  ["orders", () => "/console/orders", "Cancelled orders"],
  ["order", () => "/console/orders/8", "Changes of this order"],
  ["import", () => "/console/orders/import", "Drop a file"],
  ["plans", () => "/console/plans", "enterprise"],
  ["audit", () => "/console/audit", "durationMs"],
] as const;

/** Goes there as a link does, without loading the console and axe-core again. */
async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", "${path}"); dispatchEvent(new PopStateEvent("popstate"))`);
}

/** All rules on a desk, in the light scheme; of the dark one only the contrast, since it changes only colours. */
async function check(page: Page, name: string): Promise<{ found: string[]; widths: unknown[] }> {
  const found: string[] = [];
  const widths: unknown[] = [];
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    widths.push(await page.evaluate("document.documentElement.scrollWidth"));
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      if (shots)
        await page.screenshot({ path: `${shots}/${name}-${screen}-${colorScheme}.png`, fullPage: true });
      if (screen === "desk" && colorScheme === "light") found.push(...(await axeViolations(page)));
      if (screen === "phone" && colorScheme === "dark")
        found.push(...(await axeViolations(page, ["color-contrast"])));
    }
  }
  return { found, widths };
}

describe.skipIf(executablePath === undefined)("every page of the console", () => {
  const clean = { found: [], widths: [SCREENS.desk.width, SCREENS.phone.width] };

  it("is free of axe-core's violations and no wider than the screen", async ({ expect }) => {
    const { page, problems } = await openConsole(browser, service, "/console/plans");
    for (const [name, path, text] of PAGES) {
      await goTo(page, path());
      await page.getByText(text).first().waitFor();
      expect(await check(page, name), name).toEqual(clean);
    }
    expect(problems).toEqual([]);
    await page.close();
  });

  it("with an open dialog, too, and the sign-in page", async ({ expect }) => {
    const { page } = await openConsole(browser, service, `/console/keys/${keyId}`);
    for (const dialog of shots ? ["Edit", "Rotate", "Lift ban", "Revoke"] : ["Edit", "Lift ban"]) {
      await page.getByRole("button", { name: `${dialog}…` }).click();
      await page.getByRole("dialog").waitFor();
      expect((await check(page, `dialog-${dialog.toLowerCase().replace(" ", "-")}`)).found, dialog).toEqual(
        [],
      );
      await page.getByRole("button", { name: "Cancel" }).click();
    }
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin token").waitFor();
    expect(await check(page, "sign-in")).toEqual(clean);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the overview", () => {
  it("shows today's requests, refreshes every minute, and stops while the tab is hidden", async ({
    expect,
  }) => {
    const { page, requested, settled } = await openConsole(browser, service, "/console/plans");
    await page.clock.install();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByText("admitted today").waitFor();
    const loadsOf = (part: string) => requested.filter((url) => url.includes(part)).length;
    const loads = () => ["/admin/bans?", "/admin/keys?expiring", "/admin/keys?unused"].map(loadsOf);
    const refresh = async (minutes: number) => {
      await page.clock.runFor(minutes * 60_000);
      await settled();
    };
    expect(loads()).toEqual([1, 1, 1]);
    await refresh(2);
    expect(loads()).toEqual([3, 3, 3]);
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })");
    await refresh(5);
    expect(loads()).toEqual([3, 3, 3]);
    await page.close();
  });

  it("lists also a key that used less of its limit than is shown as a number", async () => {
    const { id, key } = await service.createKey({ plan: "business" });
    // It is listed on the day of its request.
    await untilMinuteHas(10);
    await service.call(key, NO_SUCH_PATH);
    await service.admin("GET", `/keys/${id}/usage`); // the limiter reports
    const { page } = await openConsole(browser, service, "/console");
    await page.getByText("are in these figures").waitFor();
    const nearest = page.getByRole("table", { name: "Keys nearest to their limit today" });
    await nearest.getByRole("row", { name: / business < 0.1 % 1 / }).waitFor();
    await page.close();
  });
});

/** As when the tab was hidden and is shown again. */
const refresh = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

describe.skipIf(executablePath === undefined)("a secret that is shown once", () => {
  it("stays when a refresh is refused or has another shape; only what the operator does signs out", async ({
    expect,
  }) => {
    const { id } = await service.createKey();
    const { page, requested } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Rotate…" }).click();
    await confirm(page);
    const secret = page.locator(".secret code");
    const shown = await secret.textContent();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    const answers = [{ status: 200, json: {} }, { status: 401 }];
    await page.route(`**/admin/keys/${id}`, (route) =>
      route.fulfill({ status: 401, json: {}, ...answers.shift() }),
    );
    const alert = page.getByRole("alert");
    await refresh(page);
    await alert.getByText("The service could not be reached.").waitFor();
    await refresh(page);
    await alert.getByText("The service refused the admin token.").waitFor();
    expect(await secret.textContent()).toBe(shown);
    // A refused token counts as an attempt to sign in, so it is not sent again by itself.
    const asked = requested.length;
    await refresh(page);
    await refresh(page);
    expect(requested.slice(asked).filter((url) => url.endsWith(id))).toEqual([]);
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByLabel("Admin token").waitFor();
    await page.close();
  });

  it("stays when the history is refused after the rotation", async () => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByText("No changes and no bans.").waitFor();
    await page.route("**/history", (route) => route.fulfill({ status: 401, json: {} }));
    await page.getByRole("button", { name: "Rotate…" }).click();
    await confirm(page);
    await page.getByRole("alert").getByText("The service refused the admin token.").waitFor();
    await page.locator(".secret code").waitFor();
    await page.getByText("No changes and no bans.").waitFor();
    await page.close();
  });

  it("goes once another rotation has replaced it or the key is revoked, and when another key is shown", async ({
    expect,
  }) => {
    const { id } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    const secret = page.locator(".secret code");
    for (const leave of [
      () => service.admin("POST", `/keys/${id}/rotate`, { graceSeconds: 86_400 }).then(() => refresh(page)),
      async () => {
        await page.evaluate(
          `document.body.appendChild(Object.assign(document.createElement("a"), { href: "/console/keys/${keyId}" })).click()`,
        );
        await page.getByText(keyId).first().waitFor();
        await page.goBack();
        await page.getByRole("button", { name: "Rotate…" }).waitFor();
      },
      () => service.admin("DELETE", `/keys/${id}`).then(() => refresh(page)),
    ]) {
      await page.getByRole("button", { name: "Rotate…" }).click();
      await confirm(page);
      await secret.waitFor();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await leave();
      await expect.poll(() => secret.count(), { timeout: 10_000 }).toBe(0);
    }
    await page.close();
  });
});
