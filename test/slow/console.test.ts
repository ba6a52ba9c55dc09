/** The console in a browser: conflicts, reloads, the keyboard, and what scripts add. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, openBrowser } from "../support/browser.ts";
import {
  act,
  actionOf,
  leave,
  openAction,
  pathOf,
  rowOf,
  search,
  secretOn,
  signInTo,
  submit,
  textOf,
} from "../support/console.ts";
import { type Service, startService } from "../support/service.ts";

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await startService();
  browser = await openBrowser();
});

afterAll(() => Promise.all([browser.close(), service.close()]));

async function newKey(name: string, members: Record<string, unknown> = {}) {
  const { status, body } = await service.admin("POST", "/keys", { name, plan: "business", ...members });
  if (status !== 201) throw new Error(body.message);
  return { id: body.id, key: body.key, path: `/console/keys/${body.id}` };
}

const shownIn = (page: Page, label: string) =>
  actionOf(page, "Change key").getByLabel(label, { exact: true }).inputValue();

describe("two operators who change the same", () => {
  it("key: the later one sees the present state and what he typed, and can send it again", async ({
    expect,
  }) => {
    const { id, path } = await newKey("shared key");
    const [{ page: ada }, { page: mo, problems }] = await Promise.all([
      signInTo(browser, service, path, { operator: "ada" }),
      signInTo(browser, service, path, { operator: "mo" }),
    ]);
    await openAction(mo, "Change key");
    await actionOf(mo, "Change key").getByLabel("Note").fill("what mo typed");
    await act(ada, "Change key", (form) => form.getByLabel("Requests per minute").fill("77"));

    const change = actionOf(mo, "Change key").getByRole("button", { name: "Change key" });
    expect(await submit(mo, change)).toBe(412);
    const text = await textOf(mo);
    expect(text).toContain("This was changed meanwhile");
    expect(text).toContain("77 (own limit)");
    expect(text).not.toMatch(/Note\s+what mo typed/);
    expect(await axeViolations(mo)).toEqual([]);
    expect([await shownIn(mo, "Note"), await shownIn(mo, "Requests per minute")]).toEqual([
      "what mo typed",
      "77",
    ]);
    expect(await submit(mo, actionOf(mo, "Change key").getByRole("button", { name: "Use mine" }))).toBe(200);
    const { body } = await service.admin("GET", `/keys/${id}`);
    expect(body).toMatchObject({ note: "what mo typed", requestsPerMinute: 77 });
    expect(problems).toEqual([expect.stringContaining("status of 412")]);
    await Promise.all([ada.close(), mo.close()]);
  });
});

describe("a page that is sent again by a reload", () => {
  it("makes no second key", async ({ expect }) => {
    const { page } = await signInTo(browser, service, "/console/keys/new");
    await page.getByLabel("Name").fill("made once");
    await submit(page, page.getByRole("button", { name: "Create key" }));
    const secret = await secretOn(page);
    expect(await axeViolations(page)).toEqual([]);
    expect(await leave(page, () => page.reload())).toBe(409);
    expect(await textOf(page)).not.toContain(secret);
    await submit(page, page.getByRole("link", { name: "Look at the key" }));
    expect(await textOf(page)).toContain("made once");
    expect((await service.admin("GET", "/keys?search=made+once")).body.keys).toHaveLength(1);
    await page.close();
  });
});

describe("the keyboard alone", () => {
  it("searches from anywhere by the key /", async ({ expect }) => {
    const { path } = await newKey("by keyboard");
    const { page } = await signInTo(browser, service, "/console/plans");
    await leave(page, () => page.keyboard.press("/"));
    const field = page.getByLabel("Find", { exact: true });
    await page.locator("input:focus").waitFor();
    await page.keyboard.type("/");
    expect(await field.inputValue()).toBe("/");
    await field.fill("by keyboard");
    await leave(page, () => page.keyboard.press("Enter"));
    expect(pathOf(page)).toBe(path);
    await page.close();
  });

  it("reaches everything of a key's page, shows where it is, and makes a change", async ({ expect }) => {
    const { id, path } = await newKey("without a mouse");
    const { page } = await signInTo(browser, service, path);
    await page.keyboard.press("Tab");
    const reached: string[] = [];
    let focus = await focusOf(page);
    for (; focus !== undefined && reached.length < 100; focus = await focusOf(page)) {
      expect(focus.isMarked, focus.text).toBe(true);
      reached.push(focus.text);
      await page.keyboard.press("Tab");
    }
    expect(reached.slice(0, 3)).toEqual(["Skip to the content", "Store Orders", "Overview"]);
    const operable = await page
      .getByRole("main")
      .locator("a, button:visible, summary:visible")
      .allInnerTexts();
    for (const text of operable) expect(reached).toContain(text.trim());

    await page.getByRole("link", { name: "Disable key" }).focus();
    await leave(page, () => page.keyboard.press("Enter"));
    await page.locator("section:focus").waitFor(); // the form takes the focus after the page is loaded
    await page.keyboard.press("Tab"); // from the form to its button
    await leave(page, () => page.keyboard.press("Enter"));
    expect((await service.admin("GET", `/keys/${id}`)).body.status).toBe("disabled");
    await page.close();
  });
});

/** The text of the focused element, and whether an outline shows it. Undefined outside of the page. */
function focusOf(page: Page) {
  return page.evaluate<{ text: string; isMarked: boolean } | undefined>(`(() => {
    const element = document.activeElement;
    if (element === document.body) return undefined;
    const isMarked = getComputedStyle(element).outlineStyle !== "none";
    return { text: (element.innerText || element.ariaLabel || element.id).trim(), isMarked };
  })()`);
}

describe("scripts add", () => {
  it("how many keys are ticked; the buttons come with the first tick", async ({ expect }) => {
    for (const name of ["first", "second"]) await newKey(`ticked ${name}`, { customer: "Ticked" });
    const { page } = await signInTo(browser, service, "/console/customers/Ticked");
    const bar = page.locator(".tick-bar");
    await page.getByLabel("Tick ticked first").check();
    expect(await bar.textContent()).toContain("With 1 key");
    await submit(page, page.getByRole("button", { name: "Disable" }));
    await submit(page, page.getByRole("button", { name: "Disable 1 key" }));
    expect(await page.getByRole("status").textContent()).toContain("ticked first is disabled");
    await page.close();

    const { page: plain } = await signInTo(browser, service, "/console/keys?search=ticked", {
      hasScripts: false,
    });
    const disable = plain.getByRole("button", { name: "Disable" });
    expect(await disable.isVisible()).toBe(false);
    await plain.getByLabel("Tick ticked first").check();
    expect(await disable.isVisible()).toBe(true);
    await plain.close();
  });

  it("a count of the ticked orders, and ticks for a whole page or by Shift", async ({ expect }) => {
    const orders = [601, 602].map((id) => ({ id, petId: 600 }));
    await service.admin("PUT", "/orders", [...orders, { id: 603, petId: 600, status: "delivered" }]);
    const { page } = await signInTo(browser, service, "/console/orders?petId=600");
    const button = page.getByRole("button", { name: "Ship" });
    await page.getByLabel("All on this page").check();
    expect(await button.textContent()).toBe("Ship 2 orders");
    await page.getByLabel("All on this page").uncheck();
    await page.getByLabel("Ship order 602").click();
    expect(await button.textContent()).toBe("Ship 1 order");
    await page.getByLabel("Ship order 601").click({ modifiers: ["Shift"] });
    expect(await button.textContent()).toBe("Ship 2 orders");
    await page.getByLabel("Ship order 602").uncheck();
    await submit(page, page.getByRole("button", { name: "Ship 1 order" }));
    expect(await rowOf(page, "Orders", "601")).toMatch(/ shipped$/);
    expect(await rowOf(page, "Orders", "602")).toMatch(/ pending$/);
    await page.close();
  });

  it("the check of a file below its form, which loads the file without another choice", async ({
    expect,
  }) => {
    const { page } = await signInTo(browser, service, "/console/orders/load");
    const text = '{"id":611,"petId":600}\n{"id":"six"}';
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name: "of-the-test.ndjson", mimeType: "text/plain", buffer: Buffer.from(text) });
    await page.getByRole("button", { name: "Check the file" }).click();
    await page.getByText("Would be loaded: 1 inserted").waitFor();
    await page.getByText("Line 2").waitFor();
    await submit(page, page.getByRole("button", { name: "Load", exact: true }));
    expect(await textOf(page)).toContain("Loaded: 1 inserted");
    await page.close();
  });

  it("what is true now to a key's page: a ban, and its end", { timeout: 60_000 }, async ({ expect }) => {
    const { id, path } = await newKey("looked at");
    const { page, problems } = await signInTo(browser, service, path);
    const banned = page.getByText("Banned until");
    await service.admin("PUT", `/keys/${id}/ban`, { seconds: 15, reason: "a test" });
    await banned.waitFor({ timeout: 30_000 });
    await banned.waitFor({ state: "detached", timeout: 30_000 });
    expect(problems).toEqual([]);
    await page.close();
  });

  it("a button that copies a secret, and times that go on", async ({ expect }) => {
    const { page } = await signInTo(browser, service, "/console/keys/new");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByLabel("Name").fill("copied");
    await submit(page, page.getByRole("button", { name: "Create key" }));
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    // Nobody has copied the secret.
    await page.locator("#letter").click();
    await page.getByRole("link", { name: "copied" }).click();
    await expect.poll(() => asked).toEqual(["beforeunload"]);
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const secret = await secretOn(page);
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);

    await search(page, "copied");
    expect(asked).toHaveLength(1);
    const left = page.locator("time[data-relative]").first();
    const before = await left.textContent();
    await expect.poll(() => left.textContent(), { timeout: 10_000 }).not.toBe(before);
    await page.close();
  });
});

it("after signing out, Back shows no data", async ({ expect }) => {
  const { path } = await newKey("shown before");
  const keeping = await openBrowser({ keepsPages: true });
  const { page } = await signInTo(keeping, service, path);
  await page.getByRole("link", { name: "Keys" }).click();
  await page.waitForURL("**/console/keys");
  const back = async () => {
    const before = page.url();
    await page.evaluate("void setTimeout(() => history.back())"); // the answer comes before the page goes
    await page.waitForURL((url) => url.href !== before, { waitUntil: "commit" });
    return [pathOf(page), await page.locator("h1").textContent()];
  };
  expect(await back()).toEqual([path, "shown before"]);
  expect(await page.evaluate("performance.getEntriesByType('navigation')[0].type")).toBe("navigate");
  await page.getByRole("link", { name: "Keys" }).click();
  await page.waitForURL("**/console/keys");
  await submit(page, page.getByRole("button", { name: "Sign out" }));
  expect([await back(), await back()]).toEqual([
    ["/console/keys", "Sign in"],
    [path, "Sign in"],
  ]);
  await keeping.close();
});
