/** Tools that check documents find nothing in either one, and kubb makes clients of both that compile. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { PROJECT, runProcess } from "../support/cli.ts";
import { ADMIN_TOKEN, type Service, startService } from "../support/service.ts";

const PACKAGES = join(import.meta.dirname, "node_modules");
const SILENT = { DO_NOT_TRACK: "1", KUBB_DISABLE_TELEMETRY: "1" };
// Within node_modules, so that the generated clients find zod.
const folder = mkdtempSync(join(PACKAGES, ".documents-"));
let service: Service;

const DOCUMENTS = [
  ["clients", "/openapi.json"],
  ["the admin API", "/admin/openapi.json"],
] as const;

/** The clients of kubb, with its validators, which take over each pattern and each default. */
const KUBB = `
import { defineConfig } from "@kubb/core";
import { pluginClient } from "@kubb/plugin-client";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";
import { pluginZod } from "@kubb/plugin-zod";
export default defineConfig({
  input: { path: "./document.json" },
  output: { path: "./generated", format: false, lint: false },
  plugins: [pluginOas(), pluginTs(), pluginZod(), pluginClient({ client: "fetch", parser: "zod" })],
});
`;

/** What generated code allows: without `exactOptionalPropertyTypes` and the rules against unused names. */
const COMPILER_OPTIONS = {
  target: "ESNext",
  module: "ESNext",
  moduleResolution: "Bundler",
  lib: ["ESNext", "DOM", "DOM.Iterable"],
  strict: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  types: [],
  // The package's own types refer to a file without types.
  skipLibCheck: true,
};

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service?.close();
});

/** Returns the folder of the document. */
async function fetchDocument(path: string): Promise<string> {
  const own = mkdtempSync(join(folder, "document-"));
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  const response = await fetch(new URL(path, service.url), { headers });
  writeFileSync(join(own, "document.json"), await response.text());
  return own;
}

describe.for(DOCUMENTS)("the document of %s", ([, path]) => {
  it.for([
    ["spectral", "lint", "document.json", "--ruleset", "rules.yaml", "--fail-severity", "hint"],
    ["openapi-examples-validator", "document.json"],
  ])("has nothing that %s finds", async ([tool = "", ...args], { expect }) => {
    const cwd = await fetchDocument(path);
    writeFileSync(join(cwd, "rules.yaml"), 'extends: ["spectral:oas"]\n');
    const { code, out, err } = await runProcess(join(PACKAGES, ".bin", tool), args, SILENT, { cwd });
    expect(code, out + err).toBe(0);
  });

  it("becomes a client of kubb that compiles", async ({ expect }) => {
    const cwd = await fetchDocument(path);
    writeFileSync(join(cwd, "kubb.config.mjs"), KUBB);
    const { code, out, err } = await runProcess(join(PACKAGES, ".bin/kubb"), ["generate"], SILENT, { cwd });
    expect(code, out + err).toBe(0);
    writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
    const compiled = await runProcess(join(PROJECT, "node_modules/.bin/tsc"), ["-p", cwd]);
    expect(compiled.out + compiled.err).toBe("");
  });
});
