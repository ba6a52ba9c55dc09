/** wrangler.toml for the tests, in a folder without .dev.vars. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { readText } from "./sources.ts";

const ROOT = join(import.meta.dirname, "..", "..");

type Configuration = Readonly<Record<string, unknown>> & { readonly d1_databases: object[] };

/** What an operator sets, and how the built Worker is uploaded: the tests run its sources. */
const LEFT_OUT = ["vars", "routes", "build", "base_dir", "no_bundle", "find_additional_modules", "rules"];

/** Deleted when this process ends. Name the environment "", or wrangler takes the one in CLOUDFLARE_ENV. */
export function publishedConfigurationFile(): string {
  const published = parse(readText("wrangler.toml")) as Configuration; // TOML has no types
  const folder = mkdtempSync(join(tmpdir(), "store-orders-configuration-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const configuration = {
    ...published,
    ...Object.fromEntries(LEFT_OUT.map((name) => [name, undefined])),
    main: join(ROOT, "src/worker/index.ts"),
    assets: { directory: join(ROOT, "dist/assets") },
    d1_databases: published.d1_databases.map((each) => ({
      ...each,
      migrations_dir: join(ROOT, "migrations"),
    })),
  };
  const file = join(folder, "wrangler.json");
  writeFileSync(file, JSON.stringify(configuration));
  return file;
}
