/** What `npm run deploy` refuses before wrangler runs. */
import { describe, it } from "vitest";
import { optionProblem, problemsOf } from "../../../src/tools/deploy-problems.ts";
import { publishedToml, withDomain } from "../../support/configuration.ts";

const PRODUCTION_ID = "5a1c7e0e-7a7c-4b0a-9a86-0c7b7ddc6f11";
const STAGING_ID = "0e9d3d3a-51b2-4f0c-8d53-8ab3dfb2c3e2";

const published = publishedToml();

/** wrangler.toml as docs/deploying.md has it edited. */
const edited = withDomain(published)
  .replace("00000000-0000-0000-0000-000000000001", PRODUCTION_ID)
  .replace("00000000-0000-0000-0000-000000000002", STAGING_ID);

const withRouteAtTop = edited.replace(/^routes = \[\{.*$/m, 'route = "api.example.com/*"');

describe("options of a deploy script", () => {
  it("are refused, also those that npm took", ({ expect }) => {
    expect(optionProblem([], { npm_config_yes: "true" })).toBeUndefined();
    expect(optionProblem(["--env", "staging"], {})).toMatch(/^--env staging is not known here/);
    const taken = { npm_config_dry_run: "true", npm_config_env: "true" };
    expect(optionProblem(["staging"], taken)).toMatch(/^--dry-run --env staging is not known here/);
  });

  it.for([
    ["npm_config_keep_vars", "--keep-vars"],
    ["npm_config_routes", "--routes"],
    ["npm_config_outdir", "--outdir"],
    ["npm_config_minify", "--minify"],
    ["npm_config_secrets_file", "--secrets-file"],
    ["npm_config_env_file", "--env-file"],
    ["npm_config_call", "-c"],
    ["NPM_CONFIG_DRY_RUN", "--dry-run"],
    ["npm_config_dry-run", "--dry-run"],
  ] as const)("are refused as typed where npm has them as %s", ([name, typed], { expect }) => {
    expect(optionProblem([], { [name]: "store" })?.split(" is not known here")[0]).toBe(typed);
  });

  it.for(["", "false"])("are not refused where npm has them switched off as %j", (off, { expect }) => {
    expect(optionProblem([], { npm_config_dry_run: off, NPM_CONFIG_ENV: off })).toBeUndefined();
  });

  it("are refused where npm has them as off, and that changes something", ({ expect }) => {
    expect(optionProblem([], { npm_config_bundle: "" })).toMatch(/^--no-bundle is not known here/);
  });

  it("are not refused where they are settings of npm and change nothing that is deployed", ({ expect }) => {
    expect(optionProblem([], { npm_config_tag: "next", npm_config_message: "release %s" })).toBeUndefined();
  });
});

describe("wrangler.toml as it is published", () => {
  it("is refused for production: the database is a placeholder, and there is no address", ({ expect }) => {
    expect(problemsOf(published, "production")).toEqual([
      'The database_id of store-orders is "00000000-0000-0000-0000-000000000001", which is a placeholder. Create the database with "npx wrangler d1 create store-orders", and write the database_id that it prints into wrangler.toml at the top level.',
      "Production has no address. Set routes in wrangler.toml to your domain, or workers_dev = true for a first try.",
    ]);
  });

  it("is refused for staging: the database is a placeholder", ({ expect }) => {
    expect(problemsOf(published, "staging")).toEqual([
      expect.stringContaining("The database_id of store-orders-staging is"),
    ]);
  });
});

describe("wrangler.toml as docs/deploying.md has it edited", () => {
  it("can be deployed to both environments", ({ expect }) => {
    expect(problemsOf(edited, "production")).toEqual([]);
    expect(problemsOf(edited, "staging")).toEqual([]);
  });

  it("can be deployed to workers.dev instead of a domain", ({ expect }) => {
    const first = edited
      .replace(/^routes = \[\{.*$/m, "")
      .replace("workers_dev = false", "workers_dev = true");
    expect(problemsOf(first, "production")).toEqual([]);
  });
});

describe("a mistake in wrangler.toml", () => {
  const ROUTE = 'route = "staging.example.com/*"';

  it.for([
    { staging: "" },
    { staging: ROUTE },
    { staging: 'route = ""' },
    { staging: "", isRouteAtTop: true },
    { staging: 'route = ""', isRouteAtTop: true },
  ])("is a staging environment that inherits production's domain: $staging", (test, { expect }) => {
    const toml = test.isRouteAtTop ? withRouteAtTop : edited;
    expect(problemsOf(toml.replace(/^routes = \[\].*$/m, test.staging), "staging")).toEqual([
      "[env.staging] in wrangler.toml inherits the domain of production. Set routes there, not route: [] or a domain of its own.",
    ]);
  });

  it("is no staging environment with routes or a route that wrangler reads", ({ expect }) => {
    expect(problemsOf(withRouteAtTop, "staging")).toEqual([]);
    expect(problemsOf(withRouteAtTop.replace(/^routes = \[\].*$/m, ROUTE), "staging")).toEqual([]);
    const ownRoutes = edited.replace(/^routes = \[\].*$/m, 'routes = ["staging.example.com/*"]');
    expect(problemsOf(ownRoutes, "staging")).toEqual([]);
  });

  it("is an empty route, which is no address", ({ expect }) => {
    const toml = edited.replace(/^routes = \[\{.*$/m, 'route = ""');
    expect(problemsOf(toml, "production")).toEqual([expect.stringContaining("Production has no address.")]);
  });

  it("is a staging environment with production's database", ({ expect }) => {
    const shared = edited.replace(STAGING_ID, PRODUCTION_ID.toUpperCase());
    for (const environment of ["production", "staging"] as const) {
      expect(problemsOf(shared, environment)).toEqual([
        "[env.staging] in wrangler.toml has the database of production. Create one of its own.",
      ]);
    }
  });

  it("is a staging environment with production's name", ({ expect }) => {
    const shared = edited.replace("[env.staging]", '[env.staging]\nname = "store-orders"');
    for (const environment of ["production", "staging"] as const) {
      expect(problemsOf(shared, environment)).toEqual([
        '[env.staging] in wrangler.toml has the name of production, "store-orders".',
      ]);
    }
    expect(problemsOf(shared.replace('name = "store-orders"', 'name = "orders"'), "staging")).toEqual([]);
  });

  it.for([
    'routes = [{ pattern = "API.example.com", custom_domain = true }]',
    'routes = ["staging.example.com/*", "api.example.com/v1/*"]',
    'route = "https://api.example.com/*"',
  ])("is a staging environment with production's host: %s", (routes, { expect }) => {
    const shared = edited.replace(/^routes = \[\].*$/m, routes);
    for (const environment of ["production", "staging"] as const) {
      expect(problemsOf(shared, environment)).toContain(
        "[env.staging] in wrangler.toml has a host of production: api.example.com.",
      );
    }
  });

  it("is a name that the environment variable of Workers Builds replaces by another", ({ expect }) => {
    expect(problemsOf(edited, "staging", "store-orders")).toEqual([
      'WRANGLER_CI_OVERRIDE_NAME is "store-orders": wrangler would deploy to that Worker, not to store-orders-staging. Unset it.',
    ]);
    expect(problemsOf(edited, "staging", "store-orders-staging")).toEqual([]);
    expect(problemsOf(edited, "production", "store-orders")).toEqual([]);
    expect(problemsOf(edited, "production", "store-orders-staging")).toHaveLength(1);
    const nameless = edited.replace('name = "store-orders"\n', "");
    for (const environment of ["production", "staging"] as const) {
      expect(problemsOf(nameless, environment)).toEqual(["wrangler.toml has no name."]);
    }
  });

  it("is a database id that is none, or is missing", ({ expect }) => {
    expect(problemsOf(edited.replace(PRODUCTION_ID, "store-orders"), "production")[0]).toContain(
      'The database_id of store-orders is "store-orders", which is no id.',
    );
    expect(problemsOf(edited.replace(`database_id = "${PRODUCTION_ID}"`, ""), "production")[0]).toContain(
      "The database_id of store-orders is missing.",
    );
  });

  it("is a missing database or environment", ({ expect }) => {
    expect(problemsOf('name = "store-orders"', "production")).toEqual([
      "wrangler.toml has no D1 database with the binding DB at the top level.",
    ]);
    expect(problemsOf("", "staging")).toEqual(["wrangler.toml has no [env.staging]."]);
  });
});
