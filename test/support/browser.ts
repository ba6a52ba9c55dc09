/** Debian's Chromium, headless, without background requests. Without Chromium the browser tests are skipped, with a warning. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page, type Request } from "playwright-core";
import { vi } from "vitest";

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

/** Undefined if there is none. Throws in CI, where the browser tests must run. */
export function findBrowser(): string | undefined {
  const { CHROMIUM_PATH, CI } = process.env;
  const found = [CHROMIUM_PATH ?? [], PLACES].flat().find((path) => existsSync(path));
  if (found !== undefined) return found;
  const missing = `no Chromium at ${PLACES.join(", ")} (Debian: apt-get install chromium; elsewhere: set CHROMIUM_PATH)`;
  if (CI === "true") throw new Error(`The browser tests cannot run: ${missing}`);
  process.stderr.write(`\nSKIPPED: the browser tests of the pages: ${missing}\n\n`);
  return undefined;
}

export const SCREENS = {
  desk: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
} as const;

/** A page that records its problems and its requests. */
export type WatchedPage = {
  readonly page: Page;
  /** Console errors and warnings, uncaught exceptions, failed requests. */
  readonly problems: string[];
  /** The URLs of all requests. */
  readonly requested: string[];
  /** Waits until no request is under way for a while. Playwright's "networkidle" comes only once in a document. */
  readonly settled: () => Promise<unknown>;
};

const SETTLED_AFTER_MS = 500;

/** Of Playwright, which expects a load event after each navigation. Browsers of people have this cache. */
const NO_BACK_FORWARD_CACHE = "--disable-back-forward-cache";

export async function openBrowser(executablePath: string, { hasBackForwardCache = false } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "store-orders-browser-"));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: FLAGS,
    ignoreDefaultArgs: hasBackForwardCache ? [NO_BACK_FORWARD_CACHE] : [],
    headless: true,
  });
  return {
    async open(url: string, screen: keyof typeof SCREENS): Promise<WatchedPage> {
      const page = await browser.newPage();
      await page.setViewportSize(SCREENS[screen]);
      const problems: string[] = [];
      const requested: string[] = [];
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) problems.push(message.text());
      });
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("requestfailed", (request) => problems.push(`failed: ${request.url()}`));
      const underWay = new Set<Request>();
      let lastAtMs = Date.now();
      const end = (request: Request) => {
        underWay.delete(request);
        lastAtMs = Date.now();
      };
      page.on("request", (request) => {
        requested.push(request.url());
        underWay.add(request);
        lastAtMs = Date.now();
      });
      page.on("requestfinished", end);
      page.on("requestfailed", end);
      const settled = () =>
        vi.waitUntil(() => underWay.size === 0 && Date.now() - lastAtMs >= SETTLED_AFTER_MS, {
          timeout: 20_000,
        });
      await page.goto(url);
      return { page, problems, requested, settled };
    },

    async close(): Promise<void> {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

export type Browser = Awaited<ReturnType<typeof openBrowser>>;
