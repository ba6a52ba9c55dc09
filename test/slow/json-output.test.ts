/** Tools that print JSON, in a project folder as `npm start` leaves it. */
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "vitest";
import { PROJECT, runProgram, temporaryFolder } from "../support/cli.ts";

it("test:fuzz --json prints JSON and nothing else beside .dev.vars", async ({ expect }) => {
  const project = temporaryFolder();
  for (const name of ["src", "test", "migrations", "package.json", "tsconfig.json", "wrangler.toml"]) {
    cpSync(join(PROJECT, name), join(project, name), { recursive: true });
  }
  symlinkSync(join(PROJECT, "node_modules"), join(project, "node_modules"));
  writeFileSync(join(project, ".dev.vars"), "ADMIN_TOKEN=a-token-of-the-developer\n");
  const args = ["--requests", "50", "--seed", "5", "--json"];
  const { code, out } = await runProgram(join(project, "test/fuzz/run.ts"), args, {}, { cwd: project });
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ seed: 5, sent: 50 })]);
});
