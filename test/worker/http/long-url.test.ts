/** URLs that are too long: refused before authentication, and no query of the admin API is one. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it } from "vitest";
import { MAX_URL_CHARS } from "../../../src/worker/app.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, LIST, startApp, watchDatabase } from "../../support/worker.ts";

const ORIGIN = "https://orders.example";

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => log.restore());

/** Adds a query, so that the whole URL has this many characters. */
function padded(path: string, chars: number): string {
  return `${path}?${"x".repeat(chars - `${ORIGIN}${path}?`.length)}`;
}

describe("a URL that is too long", () => {
  it("is 414 under /v1 and /admin, whatever the credential, and causes no query", async ({ expect }) => {
    const { key } = await createKey();
    const { DB, queries } = watchDatabase();
    const app = startApp({ DB });
    const cases = [
      [LIST, { key }],
      [LIST, {}],
      ["/v1/pets/1", { key }],
      ["/admin/plans", { key: env.ADMIN_TOKEN }],
    ] as const;
    for (const [path, init] of cases) {
      const response = await app(padded(path, MAX_URL_CHARS + 1), init);
      expect(await response.json(), path).toEqual({
        code: "uri_too_long",
        message: "The URL must have at most 4096 characters, with its query.",
        status: 414,
      });
      expect(log.lines().at(-1)).toMatchObject({ event: "request", status: 414 });
    }
    expect(queries()).toEqual([]);
    expect((await app(padded(LIST, MAX_URL_CHARS), { key })).status).toBe(200);
  });

  it("can be read as a 414 by a page of a listed origin", async ({ expect }) => {
    const Origin = "https://shop.example";
    const app = startApp({ CORS_ORIGINS: Origin });
    const response = await app(padded(LIST, MAX_URL_CHARS + 1), { headers: { Origin } });
    expect(response.status).toBe(414);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe(Origin);
    expect(response.headers.get("Access-Control-Expose-Headers")).toContain("X-Request-Id");
  });

  it("is longer than the queries of the admin API with the longest value of each parameter", async ({
    expect,
  }) => {
    const app = startApp();
    const longName = "\uffe6".repeat(100);
    const queries: [path: string, query: Record<string, string>][] = [
      [
        "/admin/keys",
        {
          plan: "enterprise",
          status: "disabled",
          search: "\uffe6".repeat(254),
          expiringBefore: "2026-11-21T10:05:00.123456+01:00",
          unusedSince: "2026-11-21",
          sort: "name",
          direction: "desc",
          after: cursor(["name desc", longName, `key_${"0".repeat(32)}`]),
          limit: "500",
        },
      ],
      [
        "/admin/audit",
        {
          // The longest actor is an e-mail address from Access.
          actor: "\u{1f600}".repeat(254),
          call: "orders.import",
          object: `key_${"0".repeat(32)}`,
          from: "2026-11-21T10:05:00.123456+01:00",
          to: "2026-11-21T10:05:00.123456+01:00",
          before: String(Number.MAX_SAFE_INTEGER),
          limit: "500",
        },
      ],
    ];
    for (const [path, query] of queries) {
      const response = await app(`${path}?${new URLSearchParams(query)}`, { key: env.ADMIN_TOKEN });
      expect(response.status, path).toBe(200);
    }
  });
});

function cursor(position: unknown): string {
  return new TextEncoder().encode(JSON.stringify(position)).toBase64({ alphabet: "base64url" });
}
