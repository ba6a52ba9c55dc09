/**
 * The tests pass in the repository of an operator, whose wrangler.toml is edited as docs/deploying.md says: their workflow
 * runs them before it deploys. Those that depend on the file run here, in a copy of the project.
 */
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "vitest";
import { PROJECT, runProcess, temporaryFolder } from "../support/cli.ts";
import { publishedToml, withDomain } from "../support/configuration.ts";
import { readText } from "../support/sources.ts";

/** Each var of docs/deploying.md, with another value than its default. */
const VARS: Readonly<Record<string, string>> = {
  PRODUCTION_BASE_URL: "https://api.example.com/v1",
  STAGING_BASE_URL: "https://staging.example.com/v1",
  SUPPORT_CONTACT: "help@example.com",
  PETS_SUNSET_DATE: "2029-01-01",
  AUDIT_RETENTION_DAYS: "30",
  BANS_RETENTION_DAYS: "30",
  CANCELLED_ORDERS_RETENTION_DAYS: "30",
  USAGE_RETENTION_DAYS: "90",
  ACCESS_TEAM_DOMAIN: "acme.cloudflareaccess.com",
  ACCESS_AUD: "0123456789abcdef".repeat(4),
  CORS_ORIGINS: "https://app.example",
  D1_READ_REPLICATION: "auto",
};

/** Those that read wrangler.toml, and those that a var of it would change. */
const TESTS = [
  ...["test/unit/configuration", "test/unit/tools/deploy-problems"],
  ...[
    "test/worker/admin/access",
    "test/worker/admin/token",
    "test/worker/openapi/routes",
    "test/worker/http/responses",
  ],
];

function editedToml(): string {
  const vars = Object.entries(VARS).map(([name, value]) => `${name} = "${value}"\n`);
  const edited = withDomain(publishedToml())
    .replaceAll('"00000000-', '"5a1c7e0e-')
    .replace('"4101"', '"7101"')
    .replace("workers_dev = false", "workers_dev = true")
    .replace("invocation_logs = false", "invocation_logs = false\nhead_sampling_rate = 0.1");
  return [edited, "\n[vars]\n", ...vars, "\n[env.staging.vars]\n", ...vars].join("");
}

it("the tests pass with each documented edit of wrangler.toml", async ({ expect }) => {
  const table = readText("docs/deploying.md").split("## Vars")[1]?.split("\n## ")[0] ?? "";
  const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(Object.keys(VARS)).toEqual(documented);
  const project = temporaryFolder();
  for (const name of ["src", "test", "docs", "migrations", "package.json", "tsconfig.json"]) {
    cpSync(join(PROJECT, name), join(project, name), { recursive: true });
  }
  symlinkSync(join(PROJECT, "node_modules"), join(project, "node_modules"));
  writeFileSync(join(project, "wrangler.toml"), editedToml());
  const vitest = join(PROJECT, "node_modules", "vitest", "vitest.mjs");
  const args = [
    vitest,
    "run",
    "--config",
    "test/vitest.config.ts",
    "--project",
    "unit",
    "--project",
    "worker",
    ...TESTS,
  ];
  const { code, out, err } = await runProcess(process.execPath, args, {}, { cwd: project });
  expect(code, out + err).toBe(0);
});
