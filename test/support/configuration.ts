/** wrangler.toml for the tests: without what an operator sets, and in a folder without .dev.vars. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { readText } from "./sources.ts";

const ROOT = join(import.meta.dirname, "..", "..");

type Configuration = { vars?: unknown; routes?: unknown; d1_databases: object[] };

/** Deleted when this process ends. Name the environment "", or wrangler takes the one in CLOUDFLARE_ENV. */
export function publishedConfigurationFile(): string {
  const { vars: _vars, routes: _routes, ...rest } = parse(readText("wrangler.toml")) as Configuration; // TOML has no types
  const folder = mkdtempSync(join(tmpdir(), "store-orders-configuration-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const configuration = {
    ...rest,
    main: join(ROOT, "src/worker/index.ts"),
    assets: { directory: join(ROOT, "dist/assets") },
    d1_databases: rest.d1_databases.map((each) => ({ ...each, migrations_dir: join(ROOT, "migrations") })),
  };
  const file = join(folder, "wrangler.json");
  writeFileSync(file, JSON.stringify(configuration));
  return file;
}
