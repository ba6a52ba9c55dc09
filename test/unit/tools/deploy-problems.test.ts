/** What `npm run deploy` refuses before it runs wrangler. */
import { describe, it } from "vitest";
import { type DeployedSettings, deployProblems } from "../../../src/tools/deploy-problems.ts";

function settings(name: string, id: string, more: Partial<DeployedSettings> = {}): DeployedSettings {
  const bindings = {
    d1_databases: [{ binding: "DB", database_name: name, database_id: id }],
    durable_objects: {
      bindings: [
        { name: "KEY_LIMITER", class_name: "KeyLimiter" },
        { name: "OWNER_LIMITER", class_name: "OwnerLimiter" },
      ],
    },
    ratelimits: [
      {
        name: "ADMIN_SIGN_IN_IP_RATE_LIMIT",
        namespace_id: `${name} ${id}`,
        simple: { limit: 200, period: 60 },
      },
    ],
  };
  return { name, ...bindings, workers_dev: true, vars: {}, ...more } as DeployedSettings; // wrangler's type has members that it only fills in
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
      expect.stringMatching(
        /^The database_id of store-orders is missing .*"npx wrangler d1 create store-orders --location weur"/,
      ),
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
      "store-orders: The Worker knows no setting ACCESS_WRITER.",
      expect.stringMatching(/^store-orders: CORS_ORIGINS must list origins .*, not "https:.*"\.$/),
    ]);
  });

  it.for(["ADMIN_TOKEN", "ADMIN_READ_TOKEN", "ALERT_WEBHOOK_URL", "ALERT_WEBHOOK_SECRET"])(
    "refuses %s among the vars, and does not repeat its value",
    (name, { expect }) => {
      const vars = { [name]: "https://hooks.example/0123456789abcdef" };
      const problems = deployProblems({ ...production, vars });
      expect(problems).toEqual([expect.stringContaining(`"npx wrangler secret put ${name}"`)]);
      expect(problems.join()).not.toContain("0123456789abcdef");
    },
  );

  it.for<[string, Partial<DeployedSettings>]>([
    ["DB", { d1_databases: [] }],
    [
      "KEY_LIMITER",
      { durable_objects: { bindings: [{ name: "OWNER_LIMITER", class_name: "OwnerLimiter" }] } },
    ],
    ["ADMIN_SIGN_IN_IP_RATE_LIMIT", { ratelimits: [] }],
  ])("refuses an environment that lacks the binding %s", ([name, without], { expect }) => {
    const problem = (of: string) =>
      `${of} lacks the binding ${name}: each environment of wrangler.toml needs its own.`;
    expect(deployProblems({ ...production, ...without })).toEqual([problem("store-orders")]);
    expect(deployProblems(settings("store-orders-staging", STAGING_ID, without), production)).toEqual([
      problem("store-orders-staging"),
    ]);
  });

  it.for<[string, DeployedSettings]>([
    ["database", settings("store-orders-staging", "5a1c7e0e-0000-0000-0000-000000000001")],
    ["name", settings("store-orders", STAGING_ID)],
    ["namespace_id", settings("store-orders-staging", STAGING_ID, { ratelimits: production.ratelimits })],
    ["domain", settings("store-orders-staging", STAGING_ID, { routes: ["API.example.com/v1/*"] })],
    ["domain", settings("store-orders-staging", STAGING_ID, { route: "api.example.com/*" })],
  ])("refuses staging with the %s of production", ([what, staging], { expect }) => {
    expect(deployProblems(staging, production)).toEqual([
      expect.stringMatching(new RegExp(`the ${what} of production`)),
    ]);
  });
});
