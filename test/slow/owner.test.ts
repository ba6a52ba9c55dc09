/** The page of owners in a browser on a phone: with scripts the link opens it, without them the field does. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, openBrowser } from "../support/browser.ts";
import { secretOn, textOf } from "../support/console.ts";
import { LIST, type Service, startService, untilMinuteHas } from "../support/service.ts";

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await startService();
  browser = await openBrowser();
});

afterAll(() => Promise.all([browser.close(), service.close()]));

/** A customer with a key that was refused, and with a link. */
async function linkOf(customer: string) {
  const name = `backend of ${customer}`;
  const fields = { name, plan: "free", customer, requestsPerMinute: 2 };
  const { key } = (await service.admin("POST", "/keys", fields)).body;
  await untilMinuteHas(5);
  for (let i = 0; i < 4; i++) await service.call(key, LIST);
  const { body } = await service.admin("POST", "/links", { customer, days: 7 });
  return { name, key, link: String(body.link) };
}

describe("the link of an owner", () => {
  it("opens the page on a phone, rotates, and leaves no code in an address", async ({ expect }) => {
    const { link, key, name } = await linkOf("Pet Shop");
    const code = link.split("#")[1] ?? "";
    const { page, problems, requested } = await browser.open(link, "phone");
    await page.getByRole("heading", { name: "Pet Shop", exact: true }).waitFor();
    expect(page.url()).toBe(`${service.url.href}owner`);
    await page.keyboard.press("/"); // finds nothing here, as only operators have the field
    const text = await textOf(page);
    expect(text).toContain(key.slice(-4));
    expect(text).toMatch(/2 of 1,000/);
    expect(text).toContain("The limit per minute, now 2, was reached");
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);

    await page.getByText("New secret", { exact: true }).click();
    await page.getByLabel("The old secrets stay valid").selectOption("for 1 hour");
    await page.getByRole("button", { name: "Make a new secret" }).click();
    await page.getByRole("heading", { name: `New secret of ${name}` }).waitFor();
    const fresh = await secretOn(page);
    expect(fresh).toMatch(/^sok_\w{45}$/);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "All my keys" }).click();
    expect(await textOf(page)).toContain(fresh.slice(-4));

    await page.getByRole("button", { name: "Close this page" }).click();
    await page.getByLabel("The link").waitFor();
    expect(requested.filter((url) => url.includes(code) || url.includes("/console/find"))).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("is pasted where there are no scripts", async ({ expect }) => {
    const { link, name } = await linkOf("Cat Shop");
    const { page } = await browser.open(link, "phone", { hasScripts: false });
    await page.getByLabel("The link").fill(link);
    await page.getByRole("button", { name: "Show my keys" }).click();
    expect(await textOf(page)).toContain(name);
    await page.getByText("New secret", { exact: true }).click();
    await page.getByRole("button", { name: "Make a new secret" }).click();
    expect(await secretOn(page)).toMatch(/^sok_\w{45}$/);
  });
});
