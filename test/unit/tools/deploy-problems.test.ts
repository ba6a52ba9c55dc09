/** What `npm run deploy` refuses before it runs wrangler. */
import { describe, it } from "vitest";
import { deployProblems, type Settings } from "../../../src/tools/deploy-problems.ts";

function settings(name: string, id: string, more: Partial<Settings> = {}): Settings {
  const d1_databases = [{ binding: "DB", database_name: name, database_id: id }];
  return { name, d1_databases, workers_dev: true, vars: {}, ...more } as Settings; // wrangler's type has members that it only fills in
}

const production = settings("store-orders", "5a1c7e0e-0000-0000-0000-000000000001", {
  routes: [{ pattern: "api.example.com", custom_domain: true }],
});
const STAGING_ID = "5a1c7e0e-0000-0000-0000-000000000002";

describe("npm run deploy", () => {
  it("accepts production with a database and a domain, and staging with its own", ({ expect }) => {
    expect(deployProblems(production)).toEqual([]);
    expect(deployProblems(settings("store-orders-staging", STAGING_ID), production)).toEqual([]);
  });

  it.for(["00000000-0000-0000-0000-000000000001", ""])("refuses the database id '%s'", (id, { expect }) => {
    expect(deployProblems(settings("store-orders", id))).toEqual([
      'The database_id of store-orders is missing or a placeholder. Create the database with "npx wrangler d1 create store-orders", and write the id that it prints into wrangler.toml.',
    ]);
  });

  it("refuses a Worker that would have no address", ({ expect }) => {
    expect(deployProblems({ ...production, routes: [], workers_dev: false })).toEqual([
      expect.stringContaining("store-orders has no address."),
    ]);
  });

  it("refuses a var that is wrong, and one that the Worker does not know", ({ expect }) => {
    const vars = { CORS_ORIGINS: "https://app.example/", ACCESS_WRITER: "mo@example.com" };
    expect(deployProblems({ ...production, vars })).toEqual([
      "store-orders has a var that the Worker does not know: ACCESS_WRITER.",
      expect.stringMatching(/^store-orders: CORS_ORIGINS must list origins .*, not "https:.*"\.$/),
    ]);
    const webhook = { ALERT_WEBHOOK_URL: "https://hooks.example" }; // its secret is in no file
    expect(deployProblems({ ...production, vars: webhook })).toEqual([]);
  });

  it.for<[string, Settings]>([
    ["database", settings("store-orders-staging", "5a1c7e0e-0000-0000-0000-000000000001")],
    ["name", settings("store-orders", STAGING_ID)],
    ["domain", settings("store-orders-staging", STAGING_ID, { routes: ["API.example.com/v1/*"] })],
    ["domain", settings("store-orders-staging", STAGING_ID, { route: "api.example.com/*" })],
  ])("refuses staging with the %s of production", ([what, staging], { expect }) => {
    expect(deployProblems(staging, production)).toEqual([
      expect.stringMatching(new RegExp(`the ${what} of production`)),
    ]);
  });
});
