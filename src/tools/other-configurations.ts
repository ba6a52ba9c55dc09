/** Files that `wrangler`, when it is called without `--config`, prefers to the project's wrangler.toml. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const PREFERRED = ["wrangler.json", "wrangler.jsonc", join(".wrangler", "deploy", "config.json")];

/** Those in a folder and all above it. */
export function otherConfigurations(folder: string): string[] {
  const found = PREFERRED.map((name) => join(folder, name)).filter((file) => existsSync(file));
  const parent = dirname(folder);
  return parent === folder ? found : [...found, ...otherConfigurations(parent)];
}
