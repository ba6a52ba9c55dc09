/** What stops `npm run deploy` before a Worker is uploaded, with the real wrangler and a fake of Cloudflare's API. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { optionProblem } from "../../src/tools/deploy-problems.ts";
import { runProcess } from "../support/cli.ts";
import { deployProject } from "../support/deploy-project.ts";

const { api, folder, project, env, editConfiguration } = deployProject();

/** Runs a command on a terminal, and types an answer to its first question. Exits as the command does. */
const ON_TERMINAL = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
output = b""
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if b"continue?" in output + data and b"continue?" not in output:
        os.write(terminal, sys.argv[1].encode())
    output += data
print(output.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

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

it("each option of wrangler deploy is refused where npm has taken it", async ({ expect }) => {
  const { out } = await runProcess("wrangler", ["deploy", "--help"], env(), { cwd: project });
  const lines = out.matchAll(/^ {2,}(?:-\w, +)?(--\w.*?)(?= {2})/gm);
  const options = [...lines].flatMap(([, names = ""]) => names.split(", "));
  expect(options.length).toBeGreaterThan(40);
  const admitted = options.filter((option) => {
    const [, off, name = ""] = /^--(no-)?(.+)$/.exec(option) ?? [];
    return optionProblem([], { [`npm_config_${name.replaceAll("-", "_")}`]: off ? "" : "x" }) === undefined;
  });
  // npm answers the first two itself, and has settings with the names of the others.
  expect(admitted.toSorted()).toEqual(["--help", "--message", "--tag", "--version"]);
});

describe("migrations that the operator does not want to apply", () => {
  it("stop the deployment, as the Worker needs them", async ({ expect }) => {
    const created = await runProcess("wrangler", ["d1", "create", "store-orders"], env(), { cwd: project });
    const id = /^database_id = "(.+)"$/m.exec(created.out)?.[1] ?? "";
    editConfiguration((toml) =>
      toml
        .replace("00000000-0000-0000-0000-000000000001", id)
        .replace("workers_dev = false", "workers_dev = true"),
    );
    api.take();
    const args = ["-c", ON_TERMINAL, "n", "npm", "run", "deploy"];
    const terminal = { ...env(), CI: "false" }; // with CI, wrangler asks nothing
    const { code, out } = await runProcess("python3", args, terminal, { cwd: project });
    expect(code, out).toBe(1);
    expect(out).toContain("The Worker was not deployed: it needs all migrations.");
    expect(out).toContain("0000_");
    const lines = new Set(api.take().map(({ line }) => line));
    expect([...lines]).toEqual([`POST /d1/database/${id}/query`]);
  });
});
