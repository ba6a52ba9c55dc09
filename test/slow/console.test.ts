/** The console in a browser: its files, the sign-in, an address and a change. Other files of this folder have the rest. */
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { headingAt, openConsole, pathOf } from "../support/console.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

const executablePath = findBrowser();

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await openService();
  if (executablePath !== undefined) {
    browser = await openBrowser(executablePath, { hasBackForwardCache: true });
  }
});

afterAll(async () => {
  await browser?.close();
});

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

describe("the files of the console", () => {
  const get = (path: string) => fetch(new URL(path, service.url), { redirect: "manual" });

  it("are one HTML file at the address of every page, under the policy of the documentation page", async ({
    expect,
  }) => {
    const paths = [
      "",
      "/keys",
      "/keys/new",
      "/keys/key_1",
      "/bans",
      "/plans",
      "/orders",
      "/orders/7",
      "/audit",
    ];
    for (const path of paths) {
      const response = await get(`/console${path}`);
      expect(response.status, path).toBe(200);
      expect(response.headers.get("Content-Security-Policy"), path).toBe(POLICY);
      const html = await response.text();
      expect(html, path).toContain('<script type="module" src="/console/app.js">');
      // A browser that translates the page would keep the texts of before.
      expect(html, path).toContain('<html lang="en" translate="no">');
    }
    for (const file of ["/console/app.js", "/console/app.css"]) {
      expect((await get(file)).headers.get("Content-Security-Policy"), file).toBe(POLICY);
    }
  });

  it("leave other paths to the Worker", async ({ expect }) => {
    expect(await (await get("/console/nothing")).json()).toMatchObject({ code: "not_found" });
    expect(await (await get("/admin/keys")).json()).toMatchObject({ code: "unauthorized" });
    expect((await get("/_redirects")).status).toBe(404);
  });

  it("are small: some 69 kB compressed, 24 of them the charts", async ({ expect }) => {
    const sizes = await Promise.all(
      ["/console", "/console/app.js", "/console/app.css"].map(
        async (path) => gzipSync(await (await get(path)).bytes()).byteLength,
      ),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(70_000);
  });
});

describe.skipIf(executablePath === undefined)("the sign-in", () => {
  it("refuses a wrong token, opens the page of the address with the right one, and forgets it", async ({
    expect,
  }) => {
    const { page, requested } = await browser.open(new URL("/console/plans", service.url).href, "desk");
    const token = page.getByLabel("Admin token");
    await token.fill("a-wrong-token-of-thirty-two-characters");
    await token.press("Enter");
    await page.getByRole("alert").getByText("The service refused the admin token.").waitFor();
    await token.fill("a wrong tokén");
    await token.press("Enter");
    await page.getByRole("alert").getByText("The service refused the admin token.").waitFor();

    await token.fill(ADMIN_TOKEN);
    await token.press("Enter");
    await headingAt(page, "Plans");
    const kept = "JSON.stringify([{ ...localStorage }, document.cookie, location.href])";
    expect(await page.evaluate(kept)).not.toContain(ADMIN_TOKEN);
    expect(requested.filter((url) => url.includes(ADMIN_TOKEN))).toEqual([]);

    await page.reload();
    await headingAt(page, "Plans");
    await page.getByRole("button", { name: "Sign out" }).click();
    await token.waitFor();
    expect(await page.evaluate("JSON.stringify({ ...sessionStorage })")).toBe("{}");
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("the sign-out", () => {
  const signIn = async (page: Page, name: string) => {
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.getByLabel("Your name").fill(name);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  };
  const signOut = async (page: Page) => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin token").waitFor();
  };
  // The load event does not happen again in a document that the browser has kept.
  const goBack = (page: Page) => page.goBack({ waitUntil: "commit" });

  it("also ends the session in earlier documents of the tab, which Back restores", async ({ expect }) => {
    const { id } = await service.createKey();
    const { page } = await browser.open(new URL("/console", service.url).href, "desk");
    await signIn(page, "alice");
    await page.evaluate("window.isKept = true");
    await page.goto(new URL("/console?second", service.url).href);
    await page.evaluate("window.isKept = true");
    const actors: (string | undefined)[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/admin/")) actors.push(request.headers()["x-operator"]);
    });

    await page.goto(new URL(`/console/keys/${id}`, service.url).href);
    await headingAt(page, "test");
    await goBack(page);
    await headingAt(page, "Overview");
    expect(await page.evaluate("window.isKept"), "the browser keeps documents").toBe(true);
    await page.goForward({ waitUntil: "commit" });
    await headingAt(page, "test");
    await signOut(page);

    actors.length = 0;
    await goBack(page);
    await page.getByLabel("Admin token").waitFor();
    expect(pathOf(page)).toBe("/console?second");
    expect(actors).toEqual([]);
    await signIn(page, "bob");
    await goBack(page);
    await page.waitForFunction("window.isKept === undefined");
    await headingAt(page, "Overview");
    expect(pathOf(page)).toBe("/console");
    expect(new Set(actors)).toEqual(new Set(["bob"]));
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("addresses of the console", () => {
  it("survive a reload, follow the filters, and the back button leads to the page before", async ({
    expect,
  }) => {
    const { id } = await service.createKey({ plan: "pro" });
    const { page, problems, settled } = await openConsole(browser, service, `/console/keys/${id}`);
    await headingAt(page, "test");
    expect(await page.title()).toBe("test – Store Orders console");
    // A reload would abort requests, which count as problems here.
    await settled();
    await page.reload();
    await headingAt(page, "test");

    await page.getByRole("link", { name: "All keys" }).click();
    expect(await headingAt(page, "Keys")).toBe("Keys");
    await page.getByLabel("Plan").selectOption("pro");
    await page.waitForURL("**/console/keys?plan=pro");
    await settled();
    await page.reload();
    expect(await page.getByLabel("Plan").inputValue()).toBe("pro");
    await page.getByRole("link", { name: "test" }).click();
    expect(await headingAt(page, "test")).toBe("test");
    await page.goBack();
    await headingAt(page, "Keys");
    expect(pathOf(page)).toBe("/console/keys?plan=pro");
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("a change in the console", () => {
  it("bans a key that is found by its owner, from the page of all bans", async ({ expect }) => {
    const { body } = await service.admin("POST", "/keys", {
      name: "to ban",
      plan: "free",
      ownerName: "Mx Ban",
    });
    const { page, problems } = await openConsole(browser, service, "/console/bans");
    await page.getByRole("button", { name: "Ban a key…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Key", { exact: true }).fill("mx ban");
    await page.keyboard.press("Enter");
    await dialog.getByLabel("Reason").fill("found in a repository");
    await page.keyboard.press("Enter");
    const said = page.getByRole("status").getByText(/^to ban is banned until .*, effective immediately\.$/);
    await said.waitFor();
    // The service's time, whatever the clock of the browser says.
    const live = (await service.admin("GET", `/bans?key=${body.id}`)).body.bans as [{ endsAt: string }];
    const options = '{ dateStyle: "medium", timeStyle: "short" }';
    const end = await page.evaluate<string>(
      `new Date("${live[0].endsAt}").toLocaleString(undefined, ${options})`,
    );
    expect(await said.textContent()).toContain(end);
    await page.getByRole("row", { name: /^to ban .* operator found in a repository/ }).waitFor();
    expect((await service.call(body.key, LIST)).status).toBe(429);
    expect(problems).toEqual([]);
    await page.close();
  });
});
