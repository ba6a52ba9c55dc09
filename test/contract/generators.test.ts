/** Clients that generators make of the served document list and cancel orders. Postman finds the service. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { runProcess } from "../support/cli.ts";
import { type Service, startService } from "../support/service.ts";
import { compile, copyProgram, EXPECTED, run } from "./programs.ts";
import { runRedocly } from "./redocly.ts";

const PACKAGES = join(import.meta.dirname, "node_modules");
// Within node_modules, so that the programs find openapi-fetch.
const folder = mkdtempSync(join(PACKAGES, ".generated-"));
let service: Service;

beforeAll(async () => {
  service = await startService();
  const response = await fetch(new URL("/openapi.json", service.url));
  writeFileSync(join(folder, "openapi.json"), await response.text());
  for (const program of ["hey-api", "openapi-fetch"]) copyProgram(program, folder);
  await runTool("openapi-ts", ["-i", "openapi.json", "-o", "generated/hey-api"]);
  await runTool("openapi-typescript", ["openapi.json", "-o", "generated/openapi-typescript.d.ts"]);
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

describe("the generated clients", () => {
  it("compile, with the programs that use them", async ({ expect }) => {
    expect(await compile(folder)).toBe("");
  });

  it.for(["hey-api", "openapi-fetch"])(
    "with %s: lists, cancels, and gets the codes of 409 and 429",
    async (client, { expect }) => {
      expect(await run(client, folder, service)).toEqual(EXPECTED);
    },
  );
});

describe("Redocly's client", () => {
  it("lists, cancels, and gets the codes of 409 and 429", async ({ expect }) => {
    copyProgram("redocly", join(folder, "redocly"));
    const generate = ["generate-client", "openapi.json", "-o", "redocly/generated/client.ts"];
    const { code, out, err } = await runRedocly([...generate, "--error-mode", "result"], folder);
    expect(code, out + err).toBe(0);
    expect(await compile(join(folder, "redocly"))).toBe("");
    expect(await run("redocly", join(folder, "redocly"), service)).toEqual(EXPECTED);
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
