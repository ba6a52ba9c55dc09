/** One operator's day through all pages of the console, in a browser without JavaScript. What scripts add: test/slow/console.test.ts. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, type ExpectStatic, it } from "vitest";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import {
  act,
  goTo,
  leave,
  pathOf,
  rowOf,
  search,
  secretOn,
  signInTo,
  submit,
  textOf,
} from "../support/console.ts";
import { ADMIN_TOKEN, LIST, type Service, startService } from "../support/service.ts";

const executablePath = findBrowser();
const DAY_MS = 86_400_000;

let browser: Browser;

beforeAll(async () => {
  if (executablePath !== undefined) browser = await openBrowser(executablePath);
});

afterAll(() => browser?.close());

/** What the steps of a day share. */
type Day = { readonly page: Page; readonly service: Service; readonly expect: ExpectStatic };

describe.skipIf(executablePath === undefined)("an operator's day without JavaScript", () => {
  it("goes through all pages", async ({ expect }) => {
    const service = await startService();
    try {
      const expiresAt = new Date(Date.now() + 10 * DAY_MS).toISOString();
      await service.admin("POST", "/keys", { name: "Kitty Kafe staging", plan: "pro", expiresAt });
      const { page, problems, requested } = await signInTo(browser, service, "/console/keys", {
        hasScripts: false,
      });
      const day = { page, service, expect };
      const key = await createKey(day);
      await findKey(day, key);
      const secret = await rotate(day, key);
      await changeLimits(day, key.id, secret);
      await ban(day, key.id, secret);
      await readOverview(day);
      await lift(day, secret);
      await disableAndEnable(day, secret);
      await retire(day, { old: key.secret, current: secret });
      await loadFile(day);
      await shipAndDelete(day);
      await changePlan(day);
      await revoke(day, secret);
      await readAudit(day, key.id);
      expect(problems).toEqual([]);
      expect(requested.filter((url) => /sok_/.test(url) || url.includes(ADMIN_TOKEN))).toEqual([]);
      await page.close();
      await service.log.check();
    } finally {
      await service.close();
    }
  }, 300_000);
});

const statusOf = async ({ service }: Day, secret: string) => (await service.call(secret, LIST)).status;

async function createKey(day: Day) {
  const { page, expect } = day;
  await submit(page, page.getByRole("link", { name: "Create key" }));
  await page.getByLabel("Name").fill("Paws production");
  await page.getByLabel("Customer").fill("Paws & Co");
  await page.getByLabel("Plan").selectOption("business");
  await page.getByLabel("Expires (UTC)").fill(new Date(Date.now() + 90 * DAY_MS).toISOString().slice(0, 10));
  await page.getByLabel("Note").fill("two lines\nof a note");
  expect(await submit(page, page.getByRole("button", { name: "Create key" }))).toBe(200);
  const secret = await secretOn(page);
  expect(secret).toMatch(/^sok_/);
  expect(await statusOf(day, secret)).toBe(200);
  await submit(page, page.getByRole("link", { name: "Paws production" }));
  expect(await textOf(page)).toContain("two lines\nof a note");
  return { id: pathOf(page).replace("/console/keys/", ""), secret };
}

async function findKey({ page, expect }: Day, { id, secret }: { id: string; secret: string }) {
  for (const text of ["Paws prod", id, secret, secret.slice(-4), `sok_ab…${secret.slice(-4)}`]) {
    await goTo(page, "Keys");
    expect([await search(page, text), pathOf(page)], text).toEqual([200, `/console/keys/${id}`]);
  }
  await goTo(page, "Keys");
  expect(await rowOf(page, "Keys", "Paws")).toMatch(/^Paws production Paws & Co .*Business 1 \(< 0.1 %\)/);
  expect(await rowOf(page, "Keys", "Kitty")).toMatch(
    /^Kitty Kafe staging no customer Pro – – – in 9 days …\w{4}$/,
  );
  await page.getByRole("search").getByLabel("Plan").selectOption("pro");
  await submit(page, page.getByRole("button", { name: "Filter" }));
  expect(await textOf(page)).not.toContain("Paws production");
  await submit(page, page.getByRole("link", { name: "Most used today" }));
  await submit(page, page.getByRole("link", { name: "Paws production" }));
}

async function rotate(day: Day, { id, secret: old }: { id: string; secret: string }): Promise<string> {
  const { page, expect } = day;
  const status = await act(page, "Rotate secret", (form) =>
    form.getByLabel("Old secrets").selectOption("stay valid for 7 days"),
  );
  expect(status).toBe(200);
  const secret = await secretOn(page);
  expect([await statusOf(day, old), await statusOf(day, secret)]).toEqual([200, 200]);
  await page.goto(new URL(`/console/keys/${id}`, day.service.url).href);
  expect(await textOf(page)).not.toContain(secret);
  const expiry = new Date(Date.now() + 7 * DAY_MS).getUTCFullYear();
  expect(await rowOf(page, "Secrets", old.slice(-4))).toContain(String(expiry));
  expect(await rowOf(page, "Secrets", secret.slice(-4))).toContain("no end");
  return secret;
}

async function changeLimits({ page, service, expect }: Day, id: string, secret: string) {
  await act(page, "Change key", (form) => form.getByLabel("Requests per minute").fill("500"));
  expect(pathOf(page)).toMatch(new RegExp(`^/console/keys/${id}\\?done=edit&version=\\d+$`));
  const text = await textOf(page);
  expect(text).toContain("is changed: requests per minute none → 500.");
  expect(text).toContain("500 (own limit)");
  const { headers } = await service.call(secret, LIST);
  expect(headers.get("RateLimit-Policy")).toContain("q=500;w=60");
}

async function ban(day: Day, id: string, secret: string) {
  const { page, expect } = day;
  await act(page, "Ban key", async (form) => {
    await form.getByLabel("For").fill("2");
    await form.getByLabel("Unit").selectOption("hours");
    await form.getByLabel("Reason").fill("key in a public repository");
  });
  expect(await textOf(page)).toMatch(
    /Banned until .+, which is in (1 h 5\d min|2 h): key in a public repository/,
  );
  expect(await statusOf(day, secret)).toBe(429);
  await goTo(page, "Keys");
  expect(await rowOf(page, "Keys", "Paws")).toMatch(/banned ends in (1 h 5\d min|2 h)/);
  await page.goto(new URL(`/console/keys/${id}`, day.service.url).href); // its limiter reports
}

async function readOverview({ page, expect }: Day) {
  await goTo(page, "Overview");
  const needs = (await textOf(page)).replace(/\s+/g, " ");
  expect(needs).toMatch(/Paws.* is banned, which ends in (1 h 5\d min|2 h): key in a public repository/);
  expect(needs).toMatch(/Kitty.* expires in 9 days/);
  for (const range of ["24 hours", "7 days", "30 days"]) {
    await submit(page, page.getByRole("link", { name: range }));
    const text = await textOf(page);
    expect(text).toContain("4 admitted");
    expect(text).toContain("1 blocked by bans");
    expect(text).toContain("20 % of all");
    await page.getByText("As a table").click();
    expect(await sumsOf(page, `The last ${range}`)).toEqual({
      Admitted: 4,
      "Blocked by bans": 1,
    });
  }
}

/** The sums of the columns. An hour, or a day, can end during the test, which makes two rows. */
async function sumsOf(page: Page, table: string): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const cell of await page.getByRole("table", { name: table }).locator("tbody td").all()) {
    const column = (await cell.getAttribute("data-column")) ?? "";
    sums[column] = (sums[column] ?? 0) + Number(await cell.textContent());
  }
  return sums;
}

async function lift(day: Day, secret: string) {
  const { page, expect } = day;
  await goTo(page, "Overview");
  await submit(page, page.getByRole("link", { name: "All bans" }));
  expect(await rowOf(page, "Live bans", "Paws")).toContain("Paws & Co key in a public repository");
  await submit(page, page.getByRole("button", { name: "Lift" }));
  expect(await textOf(page)).toContain("is no longer banned; the ban would have ended on ");
  expect(await statusOf(day, secret)).toBe(200);
  await goTo(page, "Overview");
  await submit(page, page.getByRole("link", { name: "All bans" }));
  expect(await textOf(page)).toContain("There is no live ban.");
  await submit(page, page.getByRole("link", { name: "Past" }));
  expect(await rowOf(page, "Past bans", "Paws")).toMatch(/by mo$/);
  await submit(page, page.getByRole("link", { name: "Paws production" }));
}

async function disableAndEnable(day: Day, secret: string) {
  const { page, expect } = day;
  await act(page, "Disable key");
  expect(await textOf(page)).toContain("Paws production is disabled.");
  expect(await statusOf(day, secret)).toBe(401);
  await submit(page, page.getByRole("button", { name: "Undo" }));
  expect(await textOf(page)).toContain("Paws production is enabled.");
  expect(await statusOf(day, secret)).toBe(200);
}

async function retire(day: Day, { old, current }: { old: string; current: string }) {
  const { page, expect } = day;
  await leave(page, () => page.getByRole("link", { name: "Paws production" }).first().click()); // the undo ended in Audit
  await act(page, "End a secret", async (form) => {
    const choice = form.getByRole("option", { name: `…${old.slice(-4)} (` });
    await form.getByLabel("Secret").selectOption(await choice.getAttribute("value"));
  });
  expect(await textOf(page)).toContain("Paws production has the secret sok_");
  expect([await statusOf(day, old), await statusOf(day, current)]).toEqual([401, 200]);
  expect(await page.getByRole("link", { name: "End a secret" }).count()).toBe(0);
}

const FILE = [
  '{"id":11,"petId":7,"quantity":2,"status":"pending"}',
  '{"id":12,"petId":7,"status":"lost"}',
  '{"id":9007199254740993,"petId":8,"quantity":1,"status":"pending"}',
  "no JSON",
  '{"id":13,"petId":9,"quantity":3,"status":"pending"}',
];

async function loadFile({ page, expect }: Day) {
  await goTo(page, "Orders");
  const load = async (button = "Load") => {
    await page.getByRole("link", { name: "Load orders" }).first().click();
    const file = { name: "orders.ndjson", mimeType: "", buffer: Buffer.from(FILE.join("\n")) };
    await page.getByLabel("File").setInputFiles(file);
    await submit(page, page.getByRole("button", { name: button }));
    return textOf(page);
  };
  const counted = "0 updated, 0 unchanged, 0 cancelled, 2 refused.";
  expect(await load("Check the file")).toContain(
    `Dry run: nothing was stored. Would be loaded: 3 inserted, ${counted}`,
  );
  await submit(page, page.getByRole("link", { name: "Orders", exact: true }).last());
  expect(await textOf(page)).toContain("0 orders");
  const text = await load();
  expect(text).toContain(`Loaded: 3 inserted, ${counted}`);
  expect(text).toMatch(/Line 2: status: must be one of/);
  expect(text).toMatch(/Line 4: .*JSON/);
  for (const line of [1, 3]) expect(text).toContain(FILE[line]);
  await goTo(page, "Orders");
  expect(await load()).toContain("Loaded: 0 inserted, 0 updated, 3 unchanged");
}

async function shipAndDelete({ page, expect }: Day) {
  await goTo(page, "Orders");
  expect(await textOf(page)).toContain("3 orders");
  expect(await rowOf(page, "Orders", "9007199254740993")).toBe("9007199254740993 8 1 pending");
  await page.getByLabel("Ship order 11").check();
  await submit(page, page.getByRole("button", { name: "Ship ticked orders" }));
  expect(await textOf(page)).toContain("1 order shipped.");
  await search(page, "11");
  await act(page, "Change order", (form) => form.getByLabel("Ship date (UTC)").fill("2026-11-24 09:30"));
  const text = await textOf(page);
  expect(text).toContain("is changed: ship date none → 24 Nov 2026, 09:30 UTC.");
  expect(text).toContain("24 Nov 2026, 09:30 UTC");
  await search(page, "13");
  await act(page, "Delete order", (form) => form.getByLabel("Delete it").check());
  expect(await textOf(page)).toContain("mo: order 13 is deleted");
  await goTo(page, "Orders");
  await page.getByRole("search").getByLabel("Status").selectOption("shipped");
  await submit(page, page.getByRole("button", { name: "Filter" }));
  expect(await textOf(page)).toContain("1 order\n");
}

async function changePlan({ page, service, expect }: Day) {
  await goTo(page, "Plans");
  await submit(page, page.getByRole("link", { name: "Change Pro" }));
  const pro = page.getByRole("region", { name: "Change Pro" });
  await pro.getByLabel("Per minute").fill("320");
  await submit(page, pro.getByRole("button", { name: "Preview" }));
  expect(await textOf(page)).toContain("Requests per minute: 300 → 320, for 1 of 1 key of the plan Pro");
  await submit(page, page.getByRole("region", { name: "Preview" }).getByRole("button"));
  expect(await textOf(page)).toContain("Pro is changed: requests per minute 300 → 320.");
  const { body } = await service.admin("GET", "/plans");
  expect(body.plans).toContainEqual(expect.objectContaining({ id: "pro", requestsPerMinute: 320 }));
}

async function revoke(day: Day, secret: string) {
  const { page, expect } = day;
  await search(page, "Paws production");
  await act(page, "Revoke key", (form) => form.getByLabel("Revoke it for good").check());
  expect(await textOf(page)).toContain("The key is revoked, which is permanent.");
  expect(await statusOf(day, secret)).toBe(401);
}

async function readAudit({ page, expect }: Day, id: string) {
  await goTo(page, "Audit");
  const entries = async () =>
    (await page.locator(".feed > li").allInnerTexts()).map((text) =>
      text.replace("Details", "").replace(/\s+/g, " "),
    );
  const sentences = [
    "mo: Paws production is revoked",
    "mo: plan Pro is changed: requests per minute 300 → 320",
    "mo: order 13 is deleted",
    "mo: order 11 is changed: ship date none → 24 Nov 2026, 09:30 UTC",
    "mo: order 11 is shipped",
    "mo: orders are loaded from orders.ndjson: 3 inserted",
    "mo: Paws production has the secret sok_",
    "mo: Paws production is enabled",
    "mo: Paws production is disabled",
    "mo: Paws production is no longer banned; the ban would have ended on ",
    "mo: Paws production is banned until ",
    "mo: Paws production is changed: requests per minute none → 500",
    "mo: Paws production has a new secret; old secrets end ",
    "mo: Paws & Co is created",
    "mo: Paws production is created on plan Business",
    "operator: Kitty Kafe staging is created on plan Pro",
  ];
  expect(await entries()).toEqual(sentences.map((sentence) => expect.stringContaining(sentence)));
  const countOf = async (preset: string) => {
    await submit(page, page.getByRole("link", { name: preset }));
    return (await entries()).length;
  };
  // The day can have ended during the test.
  expect((await countOf("Yesterday")) + (await countOf("Today"))).toBe(sentences.length);
  expect(await countOf("7 days")).toBe(sentences.length);
  await page.getByLabel("Key, plan, order or customer (id)").fill(id);
  await page.getByLabel("Change").selectOption("bans.set");
  await submit(page, page.getByRole("button", { name: "Filter" }));
  const banned = page.locator(".feed > li").filter({ hasText: "mo: Paws production is banned" });
  await banned.getByText("Details").click();
  expect(await textOf(page)).toContain("reason: key in a public repository");
}
