/** What stops `npm run deploy` before a Worker is uploaded, with the real wrangler and a fake of Cloudflare's API. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { runProcess } from "../support/cli.ts";
import { deployProject } from "../support/deploy-project.ts";

const { api, folder, project, env } = deployProject();

describe("another project's configuration in the parent folder", () => {
  const wranglerJson = join(folder, "wrangler.json");
  const redirection = join(folder, ".wrangler", "deploy", "config.json");
  const marker = join(folder, "its-command-ran");

  beforeAll(() => {
    const build = { command: `touch ${marker}` };
    const other = { name: "store-orders", main: "other.js", compatibility_date: "2026-11-01", build };
    writeFileSync(join(folder, "other.js"), "export default { fetch: () => new Response('other') };");
    writeFileSync(wranglerJson, JSON.stringify(other));
    mkdirSync(join(redirection, ".."), { recursive: true });
    writeFileSync(redirection, JSON.stringify({ configPath: "../../wrangler.json" }));
  });
  afterAll(() => {
    for (const file of [wranglerJson, redirection]) rmSync(file);
  });

  it("is named, and nothing is deployed, as wrangler would use it without --config", async ({ expect }) => {
    const { code, err } = await runProcess("npm", ["run", "deploy"], env(), { cwd: project });
    expect([code, api.take()]).toEqual([1, []]);
    for (const file of [wranglerJson, redirection]) {
      expect(err).toContain(`"npx wrangler", typed here, would read ${file} instead of wrangler.toml.`);
    }
  });

  it("is not built, and its command does not run", async ({ expect }) => {
    const program = `import { buildWorker } from "./src/tools/build-worker.ts"; console.log(/KeyLimiter/.test(await buildWorker("")));`;
    const args = ["--input-type=module-typescript", "-e", program];
    const { code, out, err } = await runProcess(process.execPath, args, env(), { cwd: project });
    expect(code, err).toBe(0);
    expect(out).toBe("true\n");
    expect(existsSync(marker)).toBe(false);
  });
});
