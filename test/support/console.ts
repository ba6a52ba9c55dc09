/** The console in a browser, signed in, against the running service. */
import type { Page } from "playwright-core";
import type { Browser, SCREENS, WatchedPage } from "./browser.ts";
import { ADMIN_TOKEN, type Service } from "./service.ts";

export type Screen = keyof typeof SCREENS;

/** Where the console keeps the admin token for the tab. */
const STORED_AS = "store-orders-console";

/** A tab that is signed in as `tester` already, without the time that the sign-in page takes. */
export async function openConsole(
  browser: Browser,
  service: Service,
  path: string,
  screen: Screen = "desk",
): Promise<WatchedPage> {
  const watched = await browser.open("about:blank", screen);
  const session = JSON.stringify({ token: ADMIN_TOKEN, operator: "tester" });
  // The script runs on about:blank, too, which has no storage.
  const store = `sessionStorage.setItem(${JSON.stringify(STORED_AS)}, ${JSON.stringify(session)})`;
  await watched.page.addInitScript(`if (location.protocol.startsWith("http")) ${store}`);
  await watched.page.goto(new URL(path, service.url).href);
  return watched;
}

/** The address without its origin. */
export function pathOf(page: Page): string {
  const { pathname, search } = new URL(page.url());
  return pathname + search;
}

/** Waits until the page has this title, and returns the text of the focused element. */
export async function headingAt(page: Page, title: string): Promise<string> {
  await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
  return page.evaluate<string>("document.activeElement?.textContent ?? ''");
}

/** Does what the open dialog offers. */
export async function confirm(page: Page): Promise<void> {
  await page.getByRole("dialog").locator("button[type=submit]").click();
}
