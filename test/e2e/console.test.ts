/** The console in a browser: its files, the sign-in, addresses, and what it says when a call fails. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { headingAt, openConsole, pathOf } from "../support/console.ts";
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
      expect(await response.text(), path).toContain('<script type="module" src="/console/app.js">');
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

  it("are small: some 56 kB compressed, 24 of them the charts", async ({ expect }) => {
    const sizes = await Promise.all(
      ["/console", "/console/app.js", "/console/app.css"].map(
        async (path) => gzipSync(await (await get(path)).bytes()).byteLength,
      ),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(65_000);
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

describe.skipIf(executablePath === undefined)("addresses of the console", () => {
  it("survive a reload, follow the filters, and the back button leads to the page before", async ({
    expect,
  }) => {
    const { id } = await service.createKey({ plan: "pro" });
    const { page, problems } = await openConsole(browser, service, `/console/keys/${id}`);
    await headingAt(page, "test");
    expect(await page.title()).toBe("test – Store Orders console");
    // A reload would abort requests, which count as problems here.
    await page.waitForLoadState("networkidle");
    await page.reload();
    await headingAt(page, "test");

    await page.getByRole("link", { name: "All keys" }).click();
    expect(await headingAt(page, "Keys")).toBe("Keys");
    await page.getByLabel("Plan").selectOption("pro");
    await page.waitForURL("**/console/keys?plan=pro");
    await page.waitForLoadState("networkidle");
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

  it("find a key by its id or its secret, and never contain a secret", async ({ expect }) => {
    const { id, key } = await service.createKey();
    const { page, requested } = await openConsole(browser, service, "/console/keys");
    const search = page.getByLabel("Name, owner, id or secret");
    await search.fill(key.slice(0, 20));
    await search.press("Enter");
    await page.getByText("It is not sent. Paste it as a whole.").waitFor();
    expect(pathOf(page)).toBe("/console/keys");
    const asked = page.waitForRequest((request) => request.method() === "POST");
    await search.fill(key);
    await search.press("Enter");
    const hash = createHash("sha256").update(key).digest("hex");
    expect((await asked).postDataJSON()).toEqual({ hash });
    await page.waitForURL(`**/console/keys/${id}`);
    await page.goBack();
    await search.fill(id);
    await search.press("Enter");
    await page.waitForURL(`**/console/keys/${id}`);
    expect(requested.filter((url) => url.includes("sok_"))).toEqual([]);
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
    await page.getByRole("button", { name: "Quincy & Sons" }).waitFor();
    expect(requested.filter((url) => url.includes("search=")).length).toBeLessThan(6);
    await page.keyboard.press("Enter");
    expect(await headingAt(page, "Quincy & Sons")).toBe("Quincy & Sons");
    const search = page.getByLabel("Search keys");
    await search.fill("sok_0123456789");
    await page.getByText("It is not sent. Paste it as a whole.").waitFor();
    await search.fill("nobody");
    await page.getByText("Nothing found").waitFor();
    expect(requested.filter((url) => url.includes("sok_"))).toEqual([]);
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

  it("because of a conflict leaves the dialog open and says why", async () => {
    await service.createKey({ plan: "business" });
    const { page } = await openConsole(browser, service, "/console/plans");
    await page.getByRole("button", { name: "Change limits: business…" }).click();
    const dialog = page.getByRole("dialog", { name: "Change the limits of business?" });
    await dialog.getByText("Nothing is changed so far.").waitFor();
    await dialog.getByLabel("Requests per day").fill("5");
    await dialog.getByText(/^The change touches the limit per day of \d+ keys?; \d+ of them/).waitFor();
    await dialog.getByLabel("Requests per day").fill("");
    await dialog.getByText("It would be refused:").waitFor();
    await dialog.getByRole("button", { name: "Change limits" }).click();
    await dialog.getByRole("alert").getByText("Nothing was changed. Reload").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.close();
  });
});
