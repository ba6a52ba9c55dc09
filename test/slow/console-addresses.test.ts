/** The console in a browser: searching, addresses with filters, what it says when a call fails, and why a key was refused. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { NOTHING_IMPORTED } from "../../src/worker/orders/import-requests.ts";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { headingAt, openConsole, pathOf } from "../support/console.ts";
import { ADMIN_TOKEN, NO_SUCH_PATH, openService, type Service } from "../support/service.ts";

const executablePath = findBrowser();

/** Without a name in the request. */
const OPERATOR = "operator";

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await openService();
  if (executablePath !== undefined) browser = await openBrowser(executablePath);
});

afterAll(async () => {
  await browser?.close();
});

describe.skipIf(executablePath === undefined)("an address of a key", () => {
  it("leads to no other call of the admin API", async ({ expect }) => {
    const { page, requested } = await openConsole(browser, service, "/console/keys/..%2Fplans");
    await page.getByText("No key has this id.").waitFor();
    const calls = requested.map((url) => new URL(url).pathname).filter((path) => path.startsWith("/admin/"));
    expect(new Set(calls)).toEqual(new Set(["/admin/keys/..%2Fplans"]));
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the sign-in", () => {
  it("says what to do when the service cannot be reached, and when it has no admin API", async ({
    expect,
  }) => {
    const { page } = await browser.open(new URL("/console", service.url).href, "phone");
    const signIn = async () => {
      await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
      await page.getByRole("button", { name: "Sign in" }).click();
    };
    await page.route("**/admin/plans", (route) => route.abort());
    await signIn();
    await page.getByRole("alert").getByText("Check your connection").waitFor();
    await page.unroute("**/admin/plans");
    const body = { code: "not_found", message: "The requested resource could not be found.", status: 404 };
    await page.route("**/admin/plans", (route) => route.fulfill({ status: 404, json: body }));
    await signIn();
    await page.getByRole("alert").getByText("Set the secret ADMIN_TOKEN").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.close();
  });

  it("sends no token when Cloudflare Access proves who is calling", async ({ expect }) => {
    const { page } = await browser.open(new URL("/console/plans", service.url).href, "desk");
    const access = page.getByRole("button", { name: "Use Cloudflare Access" });
    await access.click();
    await page.getByRole("alert").getByText("Cloudflare Access does not say who you are.").waitFor();
    const sent: (string | undefined)[] = [];
    await page.route("**/admin/plans", (route) => {
      sent.push(route.request().headers().authorization);
      return route.fulfill({ json: { plans: [] } });
    });
    await access.click();
    await page.getByText("There are no plans.").waitFor();
    expect(sent).toEqual([undefined, undefined]);
    await page.close();
  });

  it("appears again when the token is refused later", async () => {
    const { page } = await openConsole(browser, service, "/console/keys");
    await headingAt(page, "Keys");
    const body = { code: "unauthorized", message: "Missing or invalid admin token.", status: 401 };
    await page.route("**/admin/plans", (route) => route.fulfill({ status: 401, json: body }));
    await page.getByRole("link", { name: "Plans" }).click();
    await page.getByRole("alert").getByText("The service refused the admin token.").waitFor();
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("keys", () => {
  it("find a key by its id or its secret, and never contain a secret", async ({ expect }) => {
    const { id, key } = await service.createKey();
    const { page, requested } = await openConsole(browser, service, "/console/keys");
    const search = page.getByLabel("Name, owner, id or secret");
    const asked = page.waitForRequest((request) => request.method() === "POST");
    await search.fill(`Authorization: Bearer ${key}`);
    await search.press("Enter");
    const hash = createHash("sha256").update(key).digest("hex");
    expect((await asked).postDataJSON()).toEqual({ hash });
    await page.waitForURL(`**/console/keys/${id}`);
    await page.goBack();
    await search.fill(id);
    await search.press("Enter");
    await page.waitForURL(`**/console/keys/${id}`);
    expect(requested.filter((url) => url.includes("sok_"))).toEqual([]);
    await page.goto(new URL("/console/keys?plan=pro&status=Active", service.url).href);
    // The service does not know this status, so that keys of all are listed.
    expect(await page.getByLabel("Status").locator("option:checked").allTextContents()).toEqual(["All"]);

    await search.fill("beta ");
    await page.getByLabel("Status").selectOption("active");
    await page.waitForURL("**/console/keys?plan=pro&status=active&search=beta");
    expect(await search.inputValue()).toBe("beta");
    await search.fill(key);
    await page.getByLabel("Plan").selectOption("free");
    await page.waitForURL("**/console/keys?plan=free&status=active");
    await page.getByText("What looks like an id or a secret is not searched for with a filter.").waitFor();
    expect(await search.inputValue()).toBe("");
    await page.close();
  });

  it("are found from every page by the search field, to which the key / leads", async ({ expect }) => {
    await service.admin("POST", "/keys", { name: "Quincy & Sons", plan: "free", ownerName: "Mx Q" });
    const { page, requested } = await openConsole(browser, service, "/console/plans");
    await headingAt(page, "Plans");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    expect(pathOf(page)).toBe("/console/plans");
    await page.keyboard.press("/");
    await page.keyboard.type("mx q");
    await page.getByRole("option", { name: "Quincy & Sons" }).waitFor();
    expect(requested.filter((url) => url.includes("search=")).length).toBeLessThan(6);
    await page.keyboard.press("Enter");
    expect(await headingAt(page, "Quincy & Sons")).toBe("Quincy & Sons");
    const search = page.getByLabel("Search keys");
    await search.fill("nobody");
    await page.getByText("Nothing found").waitFor();
    // A whole secret does not stay readable in the bar.
    const { id, key } = await service.createKey();
    for (const choose of [
      async () => {
        await search.press("Enter");
        // The page that is opened takes the focus, which closes the results of a search that began before.
        await page.locator("h1:focus").waitFor();
      },
      () => page.getByRole("option", { name: id }).click(),
    ]) {
      await search.fill(key);
      await page.getByRole("option", { name: id }).waitFor();
      await choose();
      await page.waitForURL(`**/console/keys/${id}`);
      expect(await search.inputValue()).toBe("");
    }
    expect(requested.filter((url) => url.includes("sok_"))).toEqual([]);
    await page.close();
  });

  it("leave no results over the page once Tab has left the field", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/keys");
    await page.keyboard.press("/");
    await page.keyboard.type("test");
    const results = page.getByRole("listbox", { name: "Results" });
    await results.getByRole("option").first().waitFor();
    await page.keyboard.press("Tab");
    await results.waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.tagName")).toMatch(/^(A|BUTTON)$/);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("a late answer of a search", () => {
  /** Holds the answer of the first call to this address. */
  async function hold(page: Page, address: string) {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const held = async (route: Route) => {
      const response = await route.fetch();
      await isReleased;
      await route.fulfill({ response });
    };
    await page.route(address, held, { times: 1 });
    const asked = page.waitForRequest(address);
    const answered = page.waitForResponse(address);
    return async () => {
      await asked;
      release();
      await (await answered).finished();
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    };
  }

  it("does not lead away from another page, nor from that of a later search", async ({ expect }) => {
    const create = (name: string) => service.admin("POST", "/keys", { name, plan: "free" });
    const [early, later] = await Promise.all([create("early one"), create("later one")]);
    const { page } = await openConsole(browser, service, "/console/plans");
    const bar = page.getByLabel("Search keys");
    for (const leave of ["Back", "another text"]) {
      await page.getByRole("link", { name: "Bans", exact: true }).click();
      await headingAt(page, "Bans");
      const release = await hold(page, "**/admin/keys?search=early*");
      await bar.fill("early one");
      await bar.press("Enter");
      if (leave === "Back") await page.goBack();
      else {
        await bar.fill("later one");
        await bar.press("Enter");
      }
      const place = leave === "Back" ? "/console/plans" : `/console/keys/${later.body.id}`;
      await page.waitForURL(`**${place}`);
      await release();
      expect(pathOf(page), leave).toBe(place);
    }

    await page.getByRole("link", { name: "Keys", exact: true }).click();
    const release = await hold(page, "**/admin/keys/find");
    await page.getByLabel("Name, owner, id or secret").fill(early.body.key);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Create key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("half typed");
    await release();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("half typed");
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("a failed call", () => {
  it("is shown with what to do, and the page recovers", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/audit");
    await headingAt(page, "Audit");
    const body = { code: "service_unavailable", message: "The database cannot be reached.", status: 503 };
    await page.route("**/admin/plans", (route) => route.fulfill({ status: 503, json: body }));
    await page.getByRole("link", { name: "Plans" }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("The database cannot be reached. Try again in a few seconds.").waitFor();
    await page.unroute("**/admin/plans");
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("row", { name: /^business/ }).waitFor();
    expect(await alert.count()).toBe(0);
    await page.close();
  });

  it("of several, of which the second is refused, says that its figures are not the present ones", async ({
    expect,
  }) => {
    const { page } = await openConsole(browser, service, "/console/orders/import");
    let calls = 0;
    await page.route("**/admin/orders?import=*", (route) =>
      ++calls === 1
        ? route.fulfill({ json: { ...NOTHING_IMPORTED, inserted: 5_000 } })
        : route.fulfill({
            status: 409,
            json: { message: "The import is of another file. Start a new one." },
          }),
    );
    const buffer = Buffer.from("{}\n".repeat(5_001));
    const file = { name: "refused.ndjson", mimeType: "application/x-ndjson", buffer };
    await page.locator("input[type=file]").setInputFiles(file);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("Start a new one. Importing the whole file again is safe.").waitFor();
    await page
      .getByText(/5,000 inserted, .* figures of the last answer\. The list below has the present/)
      .waitFor();
    // The first request, and four tries of the second one.
    expect(calls).toBe(5);
    await page.close();
  });

  it("because of a conflict leaves the dialog open and says why", async () => {
    await service.createKey({ plan: "business" });
    const { page } = await openConsole(browser, service, "/console/plans");
    await page.getByRole("button", { name: "Change limits: business…" }).click();
    const dialog = page.getByRole("dialog", { name: "Change the limits of business?" });
    await dialog.getByLabel("Requests per day").fill("5");
    await dialog.getByLabel("Requests per day").fill("");
    await dialog.getByRole("button", { name: "Change limits" }).click();
    await dialog.getByRole("alert").getByText("Nothing was changed. Reload").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the audit log", () => {
  it("is filtered by who, call, object and time, all of which are in the address", async ({ expect }) => {
    const { body } = await service.admin("POST", "/keys", { name: "filtered", plan: "free" });
    await service.admin("PUT", `/keys/${body.id}/ban`, { seconds: 60, reason: "why not" });
    const { page, problems, settled } = await openConsole(browser, service, "/console/audit");
    const entries = page.getByRole("row", { name: new RegExp(body.id) });
    await entries.first().waitFor();
    expect(await entries.count()).toBe(2);
    await page.getByLabel("Object").fill(body.id);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/console/audit?object=${body.id}`);
    await page.getByLabel("Call").selectOption("bans.set");
    await page.waitForURL(`**/console/audit?object=${body.id}&call=bans.set`);
    await expect.poll(() => entries.count(), { timeout: 10_000 }).toBe(1);
    await entries.getByText("why not").waitFor();
    await entries.getByRole("link", { name: OPERATOR }).click();
    const filters = `object=${body.id}&call=bans.set&actor=${OPERATOR}`;
    await page.waitForURL(`**/console/audit?${filters}`);
    // A reload would abort requests, which count as problems here.
    await settled();
    await page.reload();
    await entries.getByText("why not").waitFor();
    await page.getByLabel("To").fill("2020-01-01T10:42");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("No entry matches. Who and object").waitFor();
    expect(new URL(page.url()).searchParams.get("to")).toMatch(/^20(19|20)-.*Z$/);
    await page.goBack();
    await entries.getByText("why not").waitFor();
    expect(await page.getByLabel("Who").inputValue()).toBe(OPERATOR);
    // Digit by digit, as people type it: in Chromium a year has six digits unless the field says otherwise.
    await page.getByLabel("From").focus();
    await page.keyboard.type("010220211042AM");
    expect(await page.getByLabel("From").inputValue()).toBe("2021-01-02T10:42");
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("a field for a date", () => {
  it("takes a year of four digits", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/keys/new");
    const expires = page.getByLabel("Expires", { exact: false });
    await expires.focus();
    await page.keyboard.type("12312027");
    expect(await expires.inputValue()).toBe("2027-12-31");
    await page.keyboard.type("9");
    expect(await expires.inputValue()).not.toMatch(/^\d{5}/);
    // Which stands for never.
    await page.getByLabel("Name", { exact: true }).fill("for ever");
    await expires.fill("9999-12-31");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("link", { name: "Show this key" }).waitFor();
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the page of a key", () => {
  it("says in which hours it was refused, and has its usage as CSV", async ({ expect }) => {
    const { id, key } = await service.createKey({ perMinute: 1 });
    await Promise.all(Array.from({ length: 5 }, () => service.call(key, NO_SUCH_PATH)));
    const { page, problems } = await openConsole(browser, service, `/console/keys/${id}`);
    const hours = page.getByRole("table", { name: "Hours with refusals" });
    await hours.getByRole("cell", { name: /^minute [34]$/ }).waitFor();
    await page.getByText("search the log for its X-Request-Id").waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "By hour as CSV (7 days)" }).click();
    expect(readFileSync(await (await downloading).path(), "utf8").split("\r\n")).toHaveLength(170);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("By hour as CSV (7 days)");
    expect(problems).toEqual([]);
    await page.close();
  });
});
