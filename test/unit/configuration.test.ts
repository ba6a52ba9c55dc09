/** wrangler.toml: the settings that the code relies on, and the same sections in both environments. */
import { parse } from "smol-toml";
import { describe, it } from "vitest";
import {
  IP_RATE_LIMIT_PERIOD_SECONDS,
  MAX_ADMIN_SIGN_IN_FAILURES_PER_MINUTE,
  MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE,
} from "../../src/worker/auth/ip-rate-limit-rules.ts";
import { readText } from "../support/sources.ts";

type Environment = {
  d1_databases: { binding: string; database_name: string; database_id: string; migrations_dir: string }[];
  durable_objects: { bindings: { name: string; class_name: string }[] };
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: number } }[];
};
type Configuration = Environment & {
  workers_dev: boolean;
  preview_urls: boolean;
  observability: unknown;
  compatibility_date: string;
  migrations: { tag: string; new_sqlite_classes?: string[] }[];
  env: { staging: Environment & { workers_dev: boolean; preview_urls?: boolean } };
};

// The tests below fail on any member that is not as this type says.
const configuration = parse(readText("wrangler.toml")) as unknown as Configuration;
/** An operator's file, as docs/deploying.md has it edited: it must pass, too, because their workflow runs these tests. */
const isEdited = !configuration.d1_databases[0]?.database_id.startsWith("00000000-");
const environments = { production: configuration, ...configuration.env };

describe("the environments", () => {
  it("are production, which is the top level, and staging", ({ expect }) => {
    expect(Object.keys(environments)).toEqual(["production", "staging"]);
  });

  for (const [name, environment] of Object.entries(environments)) {
    it(`${name} has the per-IP rate limits that the code documents`, ({ expect }) => {
      expect(environment.ratelimits.map(({ name, simple }) => ({ name, ...simple }))).toEqual([
        {
          name: "UNKNOWN_KEY_IP_RATE_LIMIT",
          limit: MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE,
          period: IP_RATE_LIMIT_PERIOD_SECONDS,
        },
        {
          name: "ADMIN_SIGN_IN_IP_RATE_LIMIT",
          limit: MAX_ADMIN_SIGN_IN_FAILURES_PER_MINUTE,
          period: IP_RATE_LIMIT_PERIOD_SECONDS,
        },
      ]);
    });

    it(`${name} has every binding`, ({ expect }) => {
      expect(environment.durable_objects).toEqual({
        bindings: [{ name: "KEY_LIMITER", class_name: "KeyLimiter" }],
      });
      expect(environment.d1_databases).toMatchObject([{ binding: "DB", migrations_dir: "migrations" }]);
      expect(shapeOf(environment)).toEqual(shapeOf(configuration));
    });
  }

  it("have no address that nobody chose: no preview URLs, and staging does not inherit a domain", ({
    expect,
  }) => {
    expect(configuration.preview_urls).toBe(false);
    expect(configuration.env.staging).not.toHaveProperty("preview_urls");
    expect(configuration.env.staging).toHaveProperty("routes");
  });

  it.skipIf(isEdited)(
    "have no address beside the domain as published, staging except workers.dev",
    ({ expect }) => {
      expect(configuration.workers_dev).toBe(false);
      expect(configuration).not.toHaveProperty("routes");
      expect(configuration.env.staging).toMatchObject({ workers_dev: true, routes: [] });
    },
  );

  it("log and trace no raw URLs", ({ expect }) => {
    // toMatchObject: docs/scaling.md has `head_sampling_rate` added.
    expect(configuration.observability).toMatchObject({
      enabled: true,
      redact_query_string: true,
      logs: { invocation_logs: false },
      traces: { enabled: false },
    });
  });

  it("share no database and no rate-limit namespace", ({ expect }) => {
    const all = Object.values(environments);
    const ids = [
      ...all.flatMap((each) => each.d1_databases.map(({ database_id }) => database_id)),
      ...all.flatMap((each) => each.d1_databases.map(({ database_name }) => database_name)),
      ...all.flatMap((each) => each.ratelimits.map(({ namespace_id }) => namespace_id)),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(8);
  });
});

describe("npm start", () => {
  it("does not take its host from routes, as the Worker refuses plain HTTP to another machine", ({
    expect,
  }) => {
    expect(readText("src/tools/dev-server.ts")).toContain("inferOriginFromRoutes: false");
  });
});

describe("the runtime", () => {
  it("keeps a Durable Object in memory while a timer is pending (ADR-9)", ({ expect }) => {
    expect(configuration.compatibility_date >= "2026-10-01").toBe(true);
  });

  it("gives the limiter an SQLite storage", ({ expect }) => {
    expect(configuration.migrations.flatMap((each) => each.new_sqlite_classes ?? [])).toEqual(["KeyLimiter"]);
  });
});

/**
 * The sections that an environment does not inherit. A new section counts as one until it is listed here. Not `vars`: all
 * are optional, and an operator sets them for each environment.
 */
function shapeOf(environment: Environment): string[] {
  const inherited = [
    "name",
    "main",
    "compatibility_date",
    "send_metrics",
    "dependencies_instrumentation",
    "keep_names",
    "observability",
    "triggers",
    "migrations",
    "build",
    "assets",
    "env",
    "routes",
    "workers_dev",
    "preview_urls",
    "vars",
  ];
  return Object.keys(environment)
    .filter((section) => !inherited.includes(section))
    .sort();
}
