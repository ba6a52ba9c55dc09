/** The console in a browser: what an operator does with keys, bans and orders. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Route } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { maskKey } from "../../src/worker/auth/key.ts";
import { type Browser, findBrowser, openBrowser } from "../support/browser.ts";
import { headingAt, openConsole, pathOf } from "../support/console.ts";
import { LIST, NO_SUCH_PATH, openService, type Service, untilMinuteHas } from "../support/service.ts";

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

const statusFor = async (key: string) => (await service.call(key, LIST)).status;

describe.skipIf(executablePath === undefined)("keys in the console", () => {
  it("are created, with a secret that is shown once and works", async ({ expect }) => {
    const { page, problems, requested } = await openConsole(browser, service, "/console/keys");
    await page.getByRole("link", { name: "Create key" }).click();
    expect(await headingAt(page, "Create a key")).toBe("Create a key");
    await page.getByLabel("Name", { exact: true }).fill("acme");
    await page.getByLabel("Owner", { exact: true }).fill("Ada");
    await page.getByLabel("Owner's e-mail").fill("jorg@mueller.example");
    await page.getByLabel("Note").fill("two\nlines");
    await page.getByText("Empty: the plan's limit, 60.").waitFor();
    await page.getByLabel("Plan").selectOption("enterprise");
    expect(await page.getByLabel("Requests per minute").getAttribute("required")).toBe("");
    await page.getByLabel("Requests per minute").fill("5");
    await page.getByLabel("Requests per day").fill("1000");
    await page.getByRole("button", { name: "Create key" }).click();
    const secret = (await page.locator(".secret code").textContent()) ?? "";
    await untilMinuteHas(20);
    expect(await statusFor(secret)).toBe(200);

    await page.getByRole("link", { name: "Show this key" }).click();
    await headingAt(page, "acme");
    await page.getByText("1 of 5 used (20 %)").waitFor();
    await page.locator(".facts").getByText("two lines").waitFor();
    await page.getByText("The last 90 days: 1 request admitted").waitFor();
    const audit = page.getByRole("table", { name: "What happened" });
    expect(await audit.getByRole("row", { name: /keys\.create/ }).textContent()).toContain("tester");
    expect(await page.content()).not.toContain(secret);
    expect(requested.filter((url) => url.includes("sok_"))).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it("are rotated, disabled and enabled", async ({ expect }) => {
    const { id, key } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`, "phone");
    await page.getByRole("button", { name: "Rotate…" }).click();
    const rotation = page.getByRole("dialog", { name: "Rotate test?" });
    await rotation.getByLabel("Old secrets work for").selectOption("None: they stop at once");
    await rotation.getByText("answered 401 from its next request on").waitFor();
    await rotation.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("status").getByText("test has a new secret, effective immediately.").waitFor();
    const fresh = (await page.locator(".secret code").textContent()) ?? "";
    expect([await statusFor(key), await statusFor(fresh)]).toEqual([401, 200]);

    for (const [word, status, effect] of [
      ["Disable", 401, "answered 401 until it is enabled again"],
      ["Enable", 200, "again, within its limits, unless it has expired, is banned or has no valid secret"],
    ] as const) {
      await page.getByRole("button", { name: `${word}…` }).click();
      await page.getByRole("dialog").getByText(effect).waitFor();
      await page.getByRole("dialog").getByRole("button", { name: word, exact: true }).click();
      await page
        .getByRole("status")
        .getByText(`test is ${word.toLowerCase()}d, effective immediately.`)
        .waitFor();
      expect(await statusFor(fresh)).toBe(status);
    }
    await page.close();
  });

  it("are edited: only what was changed is sent", async ({ expect }) => {
    const { id } = await service.createKey({ plan: "free", perDay: 500 });
    await service.admin("PATCH", `/keys/${id}`, { expiresAt: "2099-12-01T15:30:00Z" });
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Edit…" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit test" });
    await dialog.getByLabel("Name", { exact: true }).fill("renamed");
    await dialog.getByLabel("Requests per day").fill("");
    const sent = page.waitForRequest((request) => request.method() === "PATCH");
    await dialog.getByRole("button", { name: "Save" }).click();
    expect((await sent).postDataJSON()).toEqual({ name: "renamed", requestsPerDay: null });
    await headingAt(page, "renamed");
    await page.getByText("1,000 (the plan's)").waitFor();
    await page.getByRole("button", { name: "Edit…" }).click();
    const renamed = page.getByRole("dialog", { name: "Edit renamed" });
    await renamed.getByText("At 15:30:00 UTC of this day").waitFor();
    for (const day of ["", "2099-12-01"]) await renamed.getByLabel("Expires").fill(day);
    const sentDay = page.waitForRequest((request) => request.method() === "PATCH");
    await renamed.getByRole("button", { name: "Save" }).click();
    expect((await sentDay).postDataJSON()).toEqual({ expiresAt: "2099-12-01" });
    await page.close();
  });

  it("lose one secret during a grace", async ({ expect }) => {
    const { id, key } = await service.createKey();
    const { body } = await service.admin("POST", `/keys/${id}/rotate`, { graceSeconds: 600 });
    const second = String(body.key);
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: `Retire secret ${maskKey(second)}…` }).click();
    await dialog.getByText(/^The last of them ends .+ Rotate the key before then/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: `Retire secret ${maskKey(key)}…` }).click();
    expect(await dialog.getByText("The last of them ends").count()).toBe(0);
    await dialog.getByRole("button", { name: "Retire", exact: true }).click();
    await page.getByRole("status").getByText("is retired, effective immediately.").waitFor();
    expect([await statusFor(key), await statusFor(second)]).toEqual([401, 200]);
    await page.getByRole("button", { name: /^Retire/ }).waitFor({ state: "detached" });
    await page.close();
  });

  it("are revoked only after a question, and Escape leaves everything as it is", async ({ expect }) => {
    const { id, key } = await service.createKey();
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    const revoke = page.getByRole("button", { name: "Revoke…" });
    await revoke.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Revoke test?" });
    await dialog.getByText("This is permanent.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await revoke.evaluate((button) => button.matches(":focus"))).toBe(true);
    expect(await statusFor(key)).toBe(200);

    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("status").getByText("test is revoked, effective immediately.").waitFor();
    expect(await statusFor(key)).toBe(401);
    await revoke.waitFor({ state: "detached" });
    await page.locator("h1:focus").waitFor();
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("bans in the console", () => {
  it("are set and lifted, and the past one says by whom", async ({ expect }) => {
    const { id, key } = await service.createKey();
    await service.call(key, NO_SUCH_PATH);
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Ban…" }).click();
    const ban = page.getByRole("dialog", { name: "Ban test?" });
    await ban.getByLabel("Reason").fill("found in a repository");
    await ban.getByRole("button", { name: "Ban", exact: true }).click();
    await page.getByText(/Banned for another 59 min \d\d s/).waitFor();
    expect(await statusFor(key)).toBe(429);

    await page.getByRole("link", { name: "Bans", exact: true }).click();
    await headingAt(page, "Bans");
    // A refresh that began before the ban is lifted, and is answered after it.
    const { promise: isLifted, resolve: answerRefresh } = Promise.withResolvers<void>();
    const address = /\/admin\/bans\?.*state=live/;
    const held = async (route: Route) => {
      const response = await route.fetch();
      await isLifted;
      await route.fulfill({ response });
    };
    await page.route(address, held, { times: 1 });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByRole("button", { name: "Lift: test…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Lift ban" }).click();
    await page.getByRole("status").getByText("The ban is lifted, effective immediately.").waitFor();
    await page.getByText("No key is banned.").waitFor();
    const answered = page.waitForResponse(address);
    answerRefresh();
    await (await answered).finished();
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect(await page.getByText("No key is banned.").count()).toBe(1);
    await page.getByRole("row", { name: /found in a repository .* tester/ }).waitFor();
    expect(await statusFor(key)).toBe(200);
    await page.close();
  });

  it("are shown in pages, live and past ones each on their own", async ({ expect }) => {
    const { page, requested } = await openConsole(browser, service, "/console/plans");
    await page.route(/\/admin\/bans\?.*state=live/, (route) => {
      const next = route.request().url().includes("after=") ? null : "c1";
      return route.fulfill({ json: { bans: [], next } });
    });
    await page.getByRole("link", { name: "Bans", exact: true }).click();
    await page.getByText("No key is banned.").waitFor();
    const pages = page.getByRole("navigation", { name: "Pages of live bans" });
    await pages.getByRole("link", { name: "Next page" }).click();
    await page.getByText("No more live bans.").waitFor();
    expect(pathOf(page)).toBe("/console/bans?live=c1");
    await pages.getByRole("link", { name: "First page" }).click();
    await page.getByText("No key is banned.").waitFor();
    expect(requested.filter((url) => /state=past.*after=|after=.*state=past/.test(url))).toEqual([]);
    await page.close();
  });

  it("need a choice if several keys are found", async ({ expect }) => {
    const keys = await Promise.all(
      ["first twin", "second twin"].map((name) => service.admin("POST", "/keys", { name, plan: "free" })),
    );
    const { page } = await openConsole(browser, service, "/console/bans");
    await page.getByRole("button", { name: "Ban a key…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Key", { exact: true }).fill("twin");
    await page.keyboard.press("Enter");
    await dialog.getByText("2 keys found.").waitFor();
    expect(await dialog.getByRole("button", { name: "Ban", exact: true }).count()).toBe(0);
    await dialog.getByLabel("Keys found").selectOption(String(keys[1]?.body.id));
    await dialog.getByRole("heading", { name: "Ban second twin?" }).waitFor();
    await page.close();
  });

  it("need no key among the first: a search that has not read all keys continues", async ({ expect }) => {
    const { body } = await service.admin("POST", "/keys", { name: "last of many", plan: "free" });
    const { page } = await openConsole(browser, service, "/console/bans");
    let calls = 0;
    await page.route("**/admin/keys?*", (route) =>
      calls++ < 20
        ? route.fulfill({ json: { keys: [], next: "c1" } })
        : route.fulfill({ json: { keys: [body], next: null } }),
    );
    await page.getByLabel("Search keys").fill("last of");
    await page.getByRole("option", { name: "None found so far: not all keys were searched." }).waitFor();
    await page.getByRole("button", { name: "Ban a key…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Key", { exact: true }).fill("last of");
    await page.keyboard.press("Enter");
    await dialog.getByRole("alert").getByText("None found so far: not all keys were searched.").waitFor();
    await page.keyboard.press("Enter");
    await dialog.getByRole("heading", { name: "Ban last of many?" }).waitFor();
    expect(calls).toBe(21);
    await page.close();
  });

  it("are not lifted by a second Enter on the button", async ({ expect }) => {
    const { id } = await service.createKey();
    await service.admin("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "leaked" });
    const { page } = await openConsole(browser, service, `/console/keys/${id}`);
    await page.getByRole("button", { name: "Lift ban…" }).focus();
    await page.keyboard.press("Enter");
    const cancel = page.getByRole("dialog").getByRole("button", { name: "Cancel" });
    await cancel.waitFor();
    expect(await cancel.evaluate((button) => button.matches(":focus"))).toBe(true);
    await page.close();
  });

  it("need a reason of their own, not that of the key found before", async ({ expect }) => {
    for (const name of ["ban one", "ban two"]) await service.admin("POST", "/keys", { name, plan: "free" });
    const { page } = await openConsole(browser, service, "/console/bans");
    await page.getByRole("button", { name: "Ban a key…" }).click();
    const dialog = page.getByRole("dialog");
    const find = async (name: string) => {
      await dialog.getByLabel("Key", { exact: true }).fill(name);
      await page.keyboard.press("Enter");
      await dialog.getByRole("heading", { name: `Ban ${name}?` }).waitFor();
    };
    await find("ban one");
    await dialog.getByLabel("Reason").fill("abuse");
    await find("ban two");
    expect(await dialog.getByLabel("Reason").inputValue()).toBe("");
    await page.close();
  });
});

describe.skipIf(executablePath === undefined)("orders in the console", () => {
  it("are imported, also after a 503; refused lines are a table and a CSV file", async ({ expect }) => {
    const { page } = await openConsole(browser, service, "/console/orders/import");
    const lines = ['{"id":9007199254740993,"petId":3,"status":"shipped"}', '{"id":2.5}', "", "[1]"];
    lines.push('{"id":9007199254740994,"status":"pending"}');
    await page.locator("input[type=file]").setInputFiles({
      name: "orders.ndjson",
      mimeType: "application/x-ndjson",
      buffer: Buffer.from(lines.join("\n")),
    });
    await service.admin("POST", "/orders", '{"id":9007199254740994,"status":"shipped"}');
    await page.getByRole("button", { name: "Check only" }).click();
    await page
      .getByText(
        "4 of 4 orders checked: 1 to be inserted, 1 to be updated, 0 unchanged, 2 refused. Nothing was stored.",
      )
      .waitFor();
    await page.getByText("The status of 1 order would go backwards,").waitFor();
    expect((await service.admin("GET", "/orders/9007199254740993")).status).toBe(404);
    let failures = 0;
    await page.route("**/admin/orders?import=*", (route) =>
      failures++ === 0 ? route.fulfill({ status: 503, json: {} }) : route.continue(),
    );
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("4 of 4 orders sent: 1 inserted, 1 updated, 0 unchanged, 2 refused.").waitFor();
    await page.getByRole("row", { name: "4 is not a JSON object" }).waitFor();
    await page.getByRole("row", { name: /^orders\.ndjson .* tester .*1 1 0 0 1 2/ }).waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download as CSV" }).click();
    expect(readFileSync(await (await downloading).path(), "utf8")).toBe(
      'line,reason\r\n2,"id: must be a whole number of 64 bits, in digits"\r\n4,is not a JSON object\r\n',
    );
    await page.close();
  });

  it("in a file that was changed since it was chosen are not said to be imported", async ({ expect }) => {
    const path = join(mkdtempSync(join(tmpdir(), "store-orders-import-")), "orders.ndjson");
    writeFileSync(path, '{"id":910001}');
    const { page, requested } = await openConsole(browser, service, "/console/orders/import");
    await page.locator("input[type=file]").setInputFiles(path);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("heading", { name: "Imported", exact: true }).waitFor();
    writeFileSync(path, '{"id":910001}\n{"id":910002}');
    await page.getByLabel("Insert orders again that clients have cancelled").check();
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("alert").getByText("orders.ndjson cannot be read. Nothing was sent.").waitFor();
    expect(await page.getByRole("heading", { name: "Imported", exact: true }).count()).toBe(0);
    expect(requested.filter((url) => url.includes("import=imp_"))).toHaveLength(1);
    rmSync(dirname(path), { recursive: true });
    await page.close();
  });

  it("are inserted again after a cancel only if that is chosen", async ({ expect }) => {
    const file = '{"id":9007199254740995}';
    await service.admin("POST", "/orders", file);
    const { body } = await service.admin("POST", "/keys", { name: "cancels", plan: "free" });
    const order = "/v1/store/orders/9007199254740995";
    expect((await service.call(body.key as string, order, { method: "DELETE" })).status).toBe(204);
    const { page } = await openConsole(browser, service, "/console/orders/import");
    const buffer = Buffer.from(file);
    const chosen = { name: "again.ndjson", mimeType: "application/x-ndjson", buffer };
    await page.locator("input[type=file]").setInputFiles(chosen);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("Left out, because clients cancelled them: 1 order.").waitFor();
    await page.getByLabel("Insert orders again that clients have cancelled").check();
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("Inserted again after clients cancelled them: 1 order.").waitFor();
    expect((await service.admin("GET", "/orders/9007199254740995")).status).toBe(200);
    await page.close();
  });

  it("in a file that is no JSON are refused once, with its format", async ({ expect }) => {
    const { page, requested } = await openConsole(browser, service, "/console/orders/import");
    const files: [string, Buffer, string][] = [
      ["a.csv", Buffer.from("id,petId\n1,2\n"), "a.csv is not JSON but looks like CSV."],
      ["a.gz", gzipSync('{"id":1}'), "a.gz is compressed with gzip."],
    ];
    for (const [name, buffer, problem] of files) {
      await page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/plain", buffer });
      await page.getByRole("button", { name: "Check only" }).click();
      await page.getByRole("alert").getByText(`${problem} An import takes a JSON array`).waitFor();
    }
    expect(requested.filter((url) => url.includes("dry-run"))).toEqual([]);
    await page.close();
  });

  it("are found with all digits, and change backwards only after a warning", async ({ expect }) => {
    await service.admin("POST", "/orders", '{"id":9007199254740995,"quantity":2,"status":"shipped"}');
    const { page, problems } = await openConsole(browser, service, "/console/orders");
    await page.getByLabel("Status").selectOption("shipped");
    await page.waitForURL("**/console/orders?status=shipped");
    await page.getByRole("link", { name: "9007199254740995" }).waitFor();
    await page.getByLabel("Pet id").fill("77");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/console/orders?status=shipped&petId=77");
    await page.getByText("No order matches.").waitFor();
    await page.getByLabel("Order id").fill("9007199254740995");
    await page.getByRole("button", { name: "Find order" }).click();
    expect(await headingAt(page, "Order 9007199254740995")).toBe("Order 9007199254740995");
    await page.getByRole("button", { name: "Change status…" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByRole("status").textContent()).toBe("");
    await dialog.getByLabel("New status").selectOption("pending");
    await dialog.getByRole("status").getByText("This goes backwards, from shipped to pending.").waitFor();
    await dialog.getByRole("button", { name: "Change it backwards" }).click();
    await page.getByText("Order 9007199254740995 is pending.").waitFor();
    const { body } = await service.admin("GET", "/orders/9007199254740995");
    expect(body).toMatchObject({ status: "pending" });
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await headingAt(page, "Orders");
    expect((await service.admin("GET", "/orders/9007199254740995")).status).toBe(404);
    expect(problems).toEqual([]);
    await page.close();
  });
});
