/** The console in a browser: an operator who signs in, fills in forms, and reads pages. */
import type { Locator, Page } from "playwright-core";
import type { Browser, Screen, WatchedPage } from "./browser.ts";
import { ADMIN_TOKEN, type Service } from "./service.ts";

type Options = {
  readonly operator?: string;
  readonly screen?: Screen;
  readonly hasScripts?: boolean;
};

/** Signs in, and is then at `path`. */
export async function signInTo(
  browser: Browser,
  { url }: Pick<Service, "url">,
  path: string,
  { operator = "mo", screen = "desk", hasScripts = true }: Options = {},
): Promise<WatchedPage> {
  const watched = await browser.open(new URL(path, url).href, screen, { hasScripts });
  const { page } = watched;
  await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
  await page.getByLabel("Your name").fill(operator);
  await submit(page, page.getByRole("button", { name: "Sign in" }));
  return watched;
}

/** Clicks on what leads to a page, and returns the status of that page once it is loaded. */
export async function submit(page: Page, target: Locator): Promise<number> {
  return leave(page, () => target.click());
}

export async function leave(page: Page, act: () => Promise<unknown>): Promise<number> {
  const [response] = await Promise.all([
    page.waitForResponse((each) => each.request().isNavigationRequest() && each.status() !== 303),
    page.waitForEvent("load"),
    act(),
  ]);
  return response.status();
}

/** Opens the form of one of the actions that a key's page offers. */
export async function openAction(page: Page, title: string): Promise<Locator> {
  await submit(page, page.getByRole("navigation", { name: "Actions" }).getByRole("link", { name: title }));
  return actionOf(page, title);
}

/** The form that is open. */
export function actionOf(page: Page, title: string): Locator {
  return page.getByRole("region", { name: title });
}

/** Opens an action, fills in its form, sends it, and applies it. Returns the status of the last page. */
export async function act(
  page: Page,
  title: string,
  fill: (form: Locator) => Promise<unknown> = async () => {},
): Promise<number> {
  const form = await openAction(page, title);
  await fill(form);
  return apply(page, form.locator("button"));
}

/** Sends a form and, if it is answered by a preview, applies the change. */
export async function apply(page: Page, send: Locator): Promise<number> {
  const status = await submit(page, send);
  const button = page.getByRole("region", { name: "Preview" }).getByRole("button");
  return (await button.count()) === 0 ? status : submit(page, button);
}

/** Searches with the field that every page has. */
export async function search(page: Page, text: string): Promise<number> {
  if (!page.url().includes("/console/find")) await leave(page, () => page.keyboard.press("/"));
  await page.getByLabel("Find", { exact: true }).fill(text);
  return leave(page, () => page.keyboard.press("Enter"));
}

/** What the page shows, without navigation. */
export async function textOf(page: Page): Promise<string> {
  return shown(page.getByRole("main"));
}

/** The rows that have this text, their cells separated by blanks. */
export async function rowOf(page: Page, table: string, text: string): Promise<string> {
  const rows = page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: text });
  return (await shown(rows)).replace(/\s+/g, " ");
}

/** The secret that a page shows once. */
export function secretOn(page: Page): Promise<string> {
  return shown(page.locator("#secret"));
}

/** The rendered text, without that of closed details. */
async function shown(locator: Locator): Promise<string> {
  return (await locator.allInnerTexts()).join("\n");
}

/** The address without its origin. */
export function pathOf(page: Page): string {
  const { pathname, search } = new URL(page.url());
  return pathname + search;
}
