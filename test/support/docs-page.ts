/** The documentation page in a browser, against the running service, with orders to list and to cancel. */
import type { Locator, Page } from "playwright-core";
import type { Browser, SCREENS, WatchedPage } from "./browser.ts";
import type { Service } from "./service.ts";

export type Screen = keyof typeof SCREENS;

export async function openDocs(
  browser: Browser,
  service: Service,
  screen: Screen,
  hash = "",
): Promise<WatchedPage> {
  const watched = await browser.open(new URL(`/docs${hash}`, service.url).href, screen);
  await watched.page.locator("#listOrders").waitFor();
  return watched;
}

/** The panel that calls an operation. */
export function panelOf(page: Page, summary: string): Locator {
  return page.getByRole("form", { name: `Try it: ${summary}` });
}

export const keyField = (panel: Locator) => panel.getByLabel("API key", { exact: true });
export const send = (panel: Locator) => panel.getByRole("button", { name: /^Send/ }).click();
export const statusOf = (panel: Locator) => panel.locator(".result .status");

/** Waits for a response with this status. */
export async function sendAndGet(panel: Locator, status: number): Promise<string> {
  await send(panel);
  await statusOf(panel).getByText(String(status), { exact: true }).waitFor();
  return (await panel.locator(".result").textContent()) ?? "";
}

/** 40 orders: the second has shipped, the last has an id of 19 digits, the others are pending. */
export async function insertOrders({ db }: Service): Promise<void> {
  const insert = db.prepare(
    "insert into orders (id, pet_id, quantity, ship_date, complete, status) values (?, ?, 1, '2026-11-24T09:00:00.000Z', 0, ?)",
  );
  await db.batch(
    Array.from({ length: 40 }, (_, i) =>
      insert.bind(i === 39 ? "9223372036854775807" : String(i + 1), i + 3, i === 1 ? "shipped" : "pending"),
    ),
  );
}
