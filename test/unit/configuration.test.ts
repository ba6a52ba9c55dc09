/** wrangler.toml: what the code takes for granted of it, and that no environment lacks what the others have. */
import { parse } from "smol-toml";
import { describe, it } from "vitest";
import { ADMIN_FAILURES_PER_MINUTE, FENCE_PERIOD_SECONDS, UNKNOWN_KEYS_PER_MINUTE } from "../../src/fence.ts";
import { readText } from "../support/sources.ts";

type Environment = {
  observability: unknown;
  vars: Record<string, string>;
  d1_databases: { binding: string; database_name: string; database_id: string; migrations_dir: string }[];
  durable_objects: { bindings: { name: string; class_name: string }[] };
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: number } }[];
};
type Configuration = Environment & {
  compatibility_date: string;
  migrations: { tag: string; new_sqlite_classes?: string[] }[];
  env: Record<string, Environment>;
};

// The tests below fail on any member that is not as this type says.
const configuration = parse(readText("wrangler.toml")) as unknown as Configuration;
const environments = { local: configuration, ...configuration.env };

describe("the environments", () => {
  it("are the local one, staging and production", ({ expect }) => {
    expect(Object.keys(environments)).toEqual(["local", "staging", "production"]);
  });

  for (const [name, environment] of Object.entries(environments)) {
    it(`${name} fences as the code tells its clients`, ({ expect }) => {
      expect(environment.ratelimits.map(({ name, simple }) => ({ name, ...simple }))).toEqual([
        { name: "UNKNOWN_KEY_FENCE", limit: UNKNOWN_KEYS_PER_MINUTE, period: FENCE_PERIOD_SECONDS },
        { name: "ADMIN_FENCE", limit: ADMIN_FAILURES_PER_MINUTE, period: FENCE_PERIOD_SECONDS },
      ]);
    });

    it(`${name} has every binding, var and log setting of the others`, ({ expect }) => {
      expect(environment.vars).toMatchObject({ CORS_ORIGINS: "", LIMITER_FAILURE_MODE: "closed" });
      expect(Object.keys(environment.vars)).toEqual(Object.keys(configuration.vars));
      expect(environment.durable_objects).toEqual({
        bindings: [{ name: "KEY_LIMITER", class_name: "KeyLimiter" }],
      });
      expect(environment.d1_databases).toMatchObject([{ binding: "DB", migrations_dir: "migrations" }]);
      expect(environment.observability).toEqual({ enabled: true, logs: { invocation_logs: false } });
      expect(shapeOf(environment)).toEqual(shapeOf(configuration));
    });
  }

  it("set no var that the code does not read", ({ expect }) => {
    const code = readText("src/env.ts");
    expect(Object.keys(configuration.vars).filter((name) => !code.includes(`env.${name}`))).toEqual([]);
  });

  it("share no database and no fence", ({ expect }) => {
    const all = Object.values(environments);
    const ids = [
      ...all.flatMap((each) => each.d1_databases.map(({ database_id }) => database_id)),
      ...all.flatMap((each) => each.d1_databases.map(({ database_name }) => database_name)),
      ...all.flatMap((each) => each.ratelimits.map(({ namespace_id }) => namespace_id)),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(12);
  });
});

describe("the runtime", () => {
  it("keeps a Durable Object in memory while a timer is pending (D9)", ({ expect }) => {
    expect(configuration.compatibility_date >= "2026-10-01").toBe(true);
  });

  it("gives the limiter an SQLite storage", ({ expect }) => {
    expect(configuration.migrations.flatMap((each) => each.new_sqlite_classes ?? [])).toEqual(["KeyLimiter"]);
  });
});

/** The sections that wrangler does not hand on to an environment; a new one counts as such until it is named here. */
function shapeOf(environment: Environment): string[] {
  const inherited = [
    "name",
    "main",
    "compatibility_date",
    "send_metrics",
    "migrations",
    "build",
    "assets",
    "env",
    "routes",
    "workers_dev",
  ];
  return Object.keys(environment)
    .filter((section) => !inherited.includes(section))
    .sort();
}
