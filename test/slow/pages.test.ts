/** How every page of the console looks in a browser: at each width, in both schemes, and to people who use no mouse. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { axeViolations } from "../support/axe.ts";
import { type Browser, openBrowser, SCREENS, type WatchedPage } from "../support/browser.ts";
import { makeBusyDay } from "../support/busy-day.ts";
import { signInTo, submit } from "../support/console.ts";
import { LIST, type Service, startService } from "../support/service.ts";

const DAY_MS = 86_400_000;

let service: Service;
let browser: Browser;

beforeAll(async () => {
  service = await startService();
  browser = await openBrowser();
});

afterAll(() => Promise.all([browser.close(), service.close()]));

/** A zoom of 200 % is half the width: 720 is that of 1440. */
const WIDTHS = [360, 390, 720, 768, 800, 960, 1024, 1120, 1280, 1440, 1920];

/** Layout shifts of the present document since it began. */
const SHIFT = `(async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type: "layout-shift", buffered: true });
  return observer.takeRecords().reduce((sum, { value }) => sum + value, 0);
})()`;

/** By how many pixels the page is wider than its window, and what leaves its frame or the window, if not scrolled there. */
const TOO_WIDE = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const framed = [...document.querySelectorAll(".scrollable, .panel, .notice, .tile, .facts, .needs, .chart")];
  const out = framed.filter((frame) => frame.scrollWidth > frame.clientWidth + 1 || frame.getBoundingClientRect().right > clientWidth);
  return [scrollWidth - clientWidth, out.map((each) => each.ariaLabel + " " + each.className + " " + (each.scrollWidth - each.clientWidth))];
})()`;

const LONG_NAME = "a customer whose name has a long word: ".padEnd(90, "x");
const LONG_KEY = "production-of-a-key-".padEnd(90, "x");
const INT64 = ["9223372036854775807", "-9223372036854775808"] as const;

async function newKey(name: string, members: Record<string, unknown> = {}) {
  const { status, body } = await service.admin("POST", "/keys", { name, plan: "business", ...members });
  if (status !== 201) throw new Error(body.message);
  return { id: body.id, key: body.key, path: `/console/keys/${body.id}` };
}

/** A key in each state, of a customer with a long name; orders with all digits; and figures of a billion a day. */
async function makeWide(): Promise<Record<string, string>> {
  await makeBusyDay(service);
  const ofCustomer = { customer: LONG_NAME, note: "note ".repeat(90) };
  const expiresAt = new Date(Date.now() + 9 * DAY_MS).toISOString();
  const key = await newKey(LONG_KEY, { ...ofCustomer, requestsPerMinute: 5, expiresAt });
  for (let i = 0; i < 8; i++) await service.call(key.key, LIST);
  for (let i = 0; i < 9; i++) await service.admin("POST", `/keys/${key.id}/rotate`, { graceSeconds: 3_600 });
  await service.admin("POST", `/keys/${key.id}/temporary-limits`, { requestsPerDay: 43_200_000, days: 7 });
  await service.admin("PUT", `/keys/${key.id}/ban`, { seconds: 7_200, reason: "reason".repeat(20) });
  const million =
    "update usage set admitted = admitted * 1000, refused = refused * 1000, limit_per_day = limit_per_day * 1000";
  await service.db.prepare(`${million} where key_id in (select key_id from usage limit 3)`).run();
  const states: Record<string, string> = {};
  for (const state of ["disabled", "revoked", "expired"]) {
    const { id, path } = await newKey(LONG_KEY.replace("production", state), ofCustomer);
    states[`a key that is ${state}`] = path;
    if (state !== "expired") await service.admin("POST", `/keys/${state.slice(0, -1)}`, { ids: [id] });
    else await service.db.prepare("update api_keys set expires_at = 1 where id = ?").bind(id).run();
  }
  const order = (id: string, more = "") => `{"id":${id},"petId":${id},"quantity":${INT64[0]}${more}}`;
  const orders = [
    order(INT64[0]),
    order(INT64[1], ',"shipDate":"2026-11-24T09:30:00Z"'),
    order("1"),
    order("2"),
  ];
  await service.admin("PUT", `/orders?file=${"f".repeat(90)}.json`, `[${orders.join()}]`);
  await service.call((await newKey("cancels")).key, `${LIST}/2`, { method: "DELETE" });
  const { keys } = (await service.admin("GET", "/keys?limit=100")).body;
  for (const { id, name } of keys as { id: string; name: string }[])
    if (name.startsWith("hammer")) states[`key ${name}`] = `/console/keys/${id}`;
  return {
    key: key.path,
    "a form of a key": `${key.path}/limit`,
    "rotate a key": `${key.path}/rotate`,
    ...states,
  };
}

const OF_CUSTOMER = `/console/customers/${encodeURIComponent(LONG_NAME)}`;
const PAGES: Readonly<Record<string, string>> = {
  overview: "/console",
  keys: "/console/keys?sort=used&direction=desc",
  "new key": "/console/keys/new",
  customers: "/console/customers",
  customer: OF_CUSTOMER,
  "a customer of the past": "/console/customers/Hammer%20GmbH",
  "a form of a customer": `${OF_CUSTOMER}/merge`,
  links: `${OF_CUSTOMER}/links`,
  report: "/console/customers/Hammer%20GmbH/report",
  "a day of a customer": "/console/customers/Hammer%20GmbH?day=3d",
  usage: "/console/usage?customer=&from=30d",
  "usage by hour": "/console/usage?by=hour&from=7d",
  orders: "/console/orders",
  order: `/console/orders/${INT64[1]}`,
  "a form of an order": `/console/orders/${INT64[0]}/edit`,
  "cancelled orders": "/console/orders/cancelled",
  load: "/console/orders/load",
  plans: "/console/plans",
  plan: "/console/plans/pro/edit",
  audit: "/console/audit",
  alerts: "/console/alerts",
  sessions: "/console/sessions",
  find: "/console/find?text=lim",
};

describe("every page", () => {
  let pages: Readonly<Record<string, string>>;
  beforeAll(async () => {
    pages = { ...(await makeWide()), ...PAGES };
  }, 60_000);

  it("fits each width, without violations of axe", { timeout: 120_000 }, async ({ expect }) => {
    const watched = await signInTo(browser, service, "/console");
    const { page, problems, requested } = watched;
    const tooWide: unknown[] = [];
    for (const [name, path] of Object.entries(pages)) {
      const response = await page.goto(new URL(path, service.url).href);
      expect(response?.status(), name).toBe(200);
      expect(await page.evaluate<number>(SHIFT), name).toBeLessThan(0.05);
      await expectNoViolations(watched, name, expect.soft);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const found = await page.evaluate<[number, string[]]>(TOO_WIDE);
        if (found[0] > 0 || found[1].length > 0) tooWide.push([name, width, ...found]);
      }
      await page.setViewportSize(SCREENS.desk);
    }
    expect(tooWide).toEqual([]);
    const hosts = new Set(requested.map((url) => new URL(url).host));
    expect([[...hosts], problems]).toEqual([[new URL(service.url).host], []]);
    await page.close();
  });

  it("keeps the head of a list in sight, and shows each section on a phone", async ({ expect }) => {
    for (let i = 0; i < 40; i++) await newKey(`listed ${i}`, { customer: "Listed" });
    const desk = await signInTo(browser, service, "/console/keys?search=listed");
    await desk.page.getByRole("link", { name: "listed 39" }).scrollIntoViewIfNeeded();
    const head = await desk.page.getByRole("columnheader", { name: "Name" }).boundingBox();
    const bar = await desk.page.getByRole("banner").boundingBox();
    expect([bar?.y, head?.y]).toEqual([0, bar?.height]);
    const phone = await signInTo(browser, service, "/console/keys?search=listed", { screen: "phone" });
    for (const link of await phone.page.getByRole("banner").getByRole("link").all()) {
      const { x = 0, width = 0 } = (await link.boundingBox()) ?? {};
      expect([x >= 0, x + width <= SCREENS.phone.width]).toEqual([true, true]);
    }
    const rows = await phone.page.getByRole("table", { name: "Keys" }).boundingBox();
    expect(rows?.height).toBeLessThan(40 * 65);
    await Promise.all([desk.page.close(), phone.page.close()]);
  });

  it("without a session or at a wrong address has no violations either", async ({ expect }) => {
    const signedOut = await browser.open(new URL("/console/keys", service.url).href, "phone");
    await expectNoViolations(signedOut, "sign-in", expect);
    await signedOut.page.getByLabel("Admin token").fill("wrong");
    expect(await submit(signedOut.page, signedOut.page.getByRole("button", { name: "Sign in" }))).toBe(401);
    await expectNoViolations(signedOut, "wrong token", expect);
    const signedIn = await signInTo(browser, service, "/console/nothing");
    await expectNoViolations(signedIn, "not found", expect);
    await submit(signedIn.page, signedIn.page.getByRole("button", { name: "Sign out" }));
    await Promise.all([signedOut.page.close(), signedIn.page.close()]);
  });
});

type Expect = (value: unknown, message: string) => { toEqual(expected: unknown): void };

/** The other rules do not depend on the scheme. */
async function expectNoViolations({ page }: WatchedPage, name: string, expect: Expect): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  expect(await axeViolations(page), `${name}, light`).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await axeViolations(page, ["color-contrast"]), `${name}, dark`).toEqual([]);
}
