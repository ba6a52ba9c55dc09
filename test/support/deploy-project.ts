/** A copy of the project with the published wrangler.toml, in which the deploy scripts and wrangler can be run, and a fake Cloudflare account for it. */
import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { PROJECT, temporaryFolder } from "./cli.ts";
import { CloudflareApi } from "./cloudflare-api.ts";
import { publishedToml } from "./configuration.ts";

/** `folder` is the home folder, and the parent of `project`. */
export function deployProject() {
  const api = new CloudflareApi();
  const folder = realpathSync(temporaryFolder());
  const project = join(folder, "project");

  beforeAll(async () => {
    await api.start();
    mkdirSync(project);
    // Copied, because the scripts find wrangler.toml from where they really are.
    for (const name of ["src", "migrations", "package.json", "tsconfig.json"]) {
      cpSync(join(PROJECT, name), join(project, name), { recursive: true });
    }
    for (const name of ["node_modules", "package-lock.json"]) {
      symlinkSync(join(PROJECT, name), join(project, name));
    }
    writeFileSync(join(project, "wrangler.toml"), publishedToml());
  });
  afterAll(() => api.stop());

  return {
    api,
    folder,
    project,

    env(): Record<string, string> {
      const PATH = `${join(PROJECT, "node_modules", ".bin")}:${process.env.PATH}`;
      const home = { HOME: folder, XDG_CONFIG_HOME: join(folder, "config") };
      // wrangler starts in three quarters of the time once its code is compiled.
      return { ...api.env, ...home, PATH, NODE_COMPILE_CACHE: join(folder, "compiled") };
    },

    editConfiguration(edit: (toml: string) => string): void {
      const file = join(project, "wrangler.toml");
      writeFileSync(file, edit(readFileSync(file, "utf8")));
    },
  };
}
