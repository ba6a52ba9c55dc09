/** wrangler.toml without what docs/deploying.md has an operator edit, so that the tests pass in an operator's repository, too. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "smol-toml";
import { readText } from "./sources.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** What an operator may edit, and what the tests rely on. */
type Environment = {
  d1_databases: { database_id: string }[];
  ratelimits: { namespace_id: string }[];
  vars?: unknown;
  routes?: unknown;
  workers_dev: boolean;
};
type Configuration = Environment & {
  observability: { logs: { head_sampling_rate?: number } };
  env: { staging: Environment };
};

function publishedConfiguration(): Configuration {
  // test/unit/configuration.test.ts checks the members.
  const configuration = parse(readText("wrangler.toml")) as unknown as Configuration;
  const { staging } = configuration.env;
  for (const [index, environment] of [configuration, staging].entries()) {
    for (const database of environment.d1_databases)
      database.database_id = `00000000-0000-0000-0000-00000000000${index + 1}`;
    for (const [i, limit] of environment.ratelimits.entries()) limit.namespace_id = `41${index}${i + 1}`;
    delete environment.vars;
  }
  delete configuration.routes;
  delete configuration.observability.logs.head_sampling_rate;
  configuration.workers_dev = false;
  Object.assign(staging, { workers_dev: true, routes: [] });
  return configuration;
}

export function publishedToml(): string {
  return stringify(publishedConfiguration());
}

/** As docs/deploying.md has it edited. */
export function withDomain(toml: string): string {
  const routes = 'routes = [{ pattern = "api.example.com", custom_domain = true }]';
  return toml.replace("workers_dev = false", (workersDev) => `${routes}\n${workersDev}`);
}

/**
 * For what reads a file, which names the environment "": otherwise wrangler takes the one in CLOUDFLARE_ENV. The file is in a
 * folder of its own, so that a .dev.vars of the project is not read. It is deleted when this process ends.
 */
export function publishedConfigurationFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "store-orders-configuration-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "wrangler.json");
  const configuration = publishedConfiguration();
  const d1_databases = configuration.d1_databases.map((database) => ({
    ...database,
    migrations_dir: join(ROOT, "migrations"),
  }));
  const assets = { directory: join(ROOT, "dist/assets") };
  const main = join(ROOT, "src/worker/index.ts");
  writeFileSync(file, JSON.stringify({ ...configuration, d1_databases, main, assets }));
  return file;
}
