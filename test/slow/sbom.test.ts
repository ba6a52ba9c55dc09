/** `npm run -s sbom` lists what is deployed, which is what package.json calls dependencies. */
import { describe, it } from "vitest";
import { runProcess, runProgram } from "../support/cli.ts";
import { readText } from "../support/sources.ts";

type Component = {
  name: string;
  version: string;
  purl: string;
  hashes: { alg: string }[];
  licenses: unknown[];
};

describe("npm run sbom", () => {
  it("lists the packages in the bundles: all dependencies, and no other", async ({ expect }) => {
    // With which npm would leave out hono, as a devDependency needs it too.
    const { out } = await runProcess("npm", ["run", "-s", "sbom"], { NODE_ENV: "production" });
    const sbom = JSON.parse(out);
    // The test fails on another shape.
    const components = sbom.components as Component[];
    const manifest = JSON.parse(readText("package.json"));
    expect(Object.fromEntries(components.map(({ name, version }) => [name, version]))).toEqual(
      manifest.dependencies,
    );
    for (const { name, version, purl, hashes, licenses } of components) {
      expect(purl).toBe(`pkg:npm/${name}@${version}`);
      expect(hashes.map(({ alg }) => alg)).toEqual(["SHA-512"]);
      expect(licenses).toHaveLength(1);
    }
    expect(sbom).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "store-orders" } } });
  });

  it("ends with exit code 1 and one line if the list cannot be stored", async ({ expect }) => {
    const { code, err } = await runProcess("sh", ["-c", "npm run -s sbom > /dev/full"], {});
    expect([code, err]).toEqual([
      1,
      "The output cannot be written: ENOSPC: no space left on device, write\n",
    ]);
  });

  it("says how it is run, if it is run without npm", async ({ expect }) => {
    const { code, out, err } = await runProgram("src/tools/sbom.ts", [], { npm_execpath: "" });
    expect([code, out, err]).toEqual([1, "", "Run this with npm: npm run -s sbom\n"]);
  });
});
