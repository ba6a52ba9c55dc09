/** `npm run images` makes the pictures of docs/images again: pages after a busy day. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openBrowser } from "./support/browser.ts";
import { makeBusyDay } from "./support/busy-day.ts";
import { signInTo } from "./support/console.ts";
import { LIST, startService } from "./support/service.ts";

const FOLDER = join(import.meta.dirname, "..", "docs", "images");

const service = await startService();
const browser = await openBrowser();
try {
  const { banned } = await makeBusyDay(service);
  const limits = { requestsPerMinute: 60, requestsPerDay: 20 };
  const { body } = await service.admin("POST", "/keys", {
    ...{ name: "paws-co trial", plan: "enterprise", customer: "Paws & Co" },
    ...limits,
  });
  for (let i = 0; i < 18; i++) await service.call(body.key, LIST);

  const { page: docs } = await browser.open(new URL("/docs", service.url).href, "desk");
  await docs.getByRole("heading", { level: 1 }).waitFor();
  await take(docs, "docs");
  const { page } = await signInTo(browser, service, "/console", { operator: "mona" });
  await take(page, "overview");
  await page.goto(new URL("/console/keys", service.url).href);
  await take(page, "keys");
  const bannedKey = `/console/keys/${banned.id}`;
  await page.goto(new URL(bannedKey, service.url).href);
  await take(page, "banned-key");
  const phone = await signInTo(browser, service, bannedKey, { operator: "mona", screen: "phone" });
  await take(phone.page, "banned-key-phone");
} finally {
  await browser.close();
  await service.close();
}

/** What the window shows, as WebP: half the size of a PNG. */
async function take(page: Page, name: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 85 });
  writeFileSync(join(FOLDER, `${name}.webp`), Buffer.from(data, "base64"));
}
