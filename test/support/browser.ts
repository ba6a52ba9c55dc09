/** Debian's Chromium, headless. */
import { existsSync } from "node:fs";
import { chromium, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function findBrowser(): string {
  const { CHROMIUM_PATH } = process.env;
  const found = [CHROMIUM_PATH ?? [], PLACES].flat().find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    `The tests of the pages need Chromium: none is at ${PLACES.join(", ")} (Debian: apt-get install chromium; elsewhere: set CHROMIUM_PATH)`,
  );
}

export const SCREENS = {
  desk: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
} as const;

export type Screen = keyof typeof SCREENS;

/** A page that records its problems and its requests. */
export type WatchedPage = {
  readonly page: Page;
  /** Console errors and warnings, uncaught exceptions, failed requests. */
  readonly problems: string[];
  /** The URLs of all requests. */
  readonly requested: string[];
};

const TIMEOUT_MS = 15_000;

/** Playwright turns off the keeping of pages for Back, with which people browse. */
const KEEPS_NO_PAGES = "--disable-back-forward-cache";

export async function openBrowser({ keepsPages = false } = {}) {
  const executablePath = findBrowser();
  const ignoreDefaultArgs = keepsPages ? [KEEPS_NO_PAGES] : [];
  const browser = await chromium.launch({ executablePath, args: FLAGS, ignoreDefaultArgs, headless: true });
  return {
    /** Each page has cookies of its own. */
    async open(url: string, screen: Screen, { hasScripts = true } = {}): Promise<WatchedPage> {
      const page = await browser.newPage({ viewport: SCREENS[screen], javaScriptEnabled: hasScripts });
      page.setDefaultTimeout(TIMEOUT_MS);
      const problems: string[] = [];
      const requested: string[] = [];
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) problems.push(message.text());
      });
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("requestfailed", (request) => {
        // A navigation aborts what the page before still asks for.
        if (request.failure()?.errorText !== "net::ERR_ABORTED") problems.push(`failed: ${request.url()}`);
      });
      page.on("request", (request) => requested.push(request.url()));
      await page.goto(url);
      return { page, problems, requested };
    },

    close: () => browser.close(),
  };
}

export type Browser = Awaited<ReturnType<typeof openBrowser>>;
