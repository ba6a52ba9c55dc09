/** A client that a generator makes of the served document lists and cancels orders. Postman finds the service. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { runProcess } from "../support/cli.ts";
import { type Service, startService } from "../support/service.ts";
import { compile, copyProgram, EXPECTED, run } from "./programs.ts";

const PACKAGES = join(import.meta.dirname, "node_modules");
const folder = mkdtempSync(join(PACKAGES, ".generated-"));
let service: Service;

beforeAll(async () => {
  service = await startService();
  const response = await fetch(new URL("/openapi.json", service.url));
  writeFileSync(join(folder, "openapi.json"), await response.text());
  copyProgram("hey-api", folder);
  await runTool("openapi-ts", ["-i", "openapi.json", "-o", "generated/hey-api"]);
  await runTool("openapi2postmanv2", ["-s", "openapi.json", "-o", "postman.json"]);
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service?.close();
});

async function runTool(program: string, args: readonly string[]): Promise<void> {
  const { code, out, err } = await runProcess(join(PACKAGES, ".bin", program), args, {}, { cwd: folder });
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${out}${err}`);
}

describe("the client of hey-api", () => {
  it("compiles, lists, cancels, and gets the codes of 409 and 429", async ({ expect }) => {
    expect(await compile(folder)).toBe("");
    expect(await run("hey-api", folder, service)).toEqual(EXPECTED);
  });
});

describe("Postman's collection", () => {
  it("has an absolute base URL and asks for the key", ({ expect }) => {
    const collection = JSON.parse(readFileSync(join(folder, "postman.json"), "utf8"));
    expect(collection.variable).toContainEqual(
      expect.objectContaining({ key: "baseUrl", value: new URL("/v1", service.url).href }),
    );
    expect(collection.auth.type).toBe("bearer");
  });
});
