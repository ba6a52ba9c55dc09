/** Redocly finds nothing in either document with its strictest rules. Generated clients: test/contract. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "vitest";
import { runRedocly } from "../contract/redocly.ts";
import { PROJECT, temporaryFolder } from "../support/cli.ts";
import { contractWith } from "../support/contract.ts";

it("Redocly finds nothing in either document", async ({ expect }) => {
  const folder = temporaryFolder();
  const document = contractWith({
    ownOrigin: "https://orders.petstore.test",
    productionBaseUrl: "https://orders.petstore.test/v1",
    stagingBaseUrl: "https://staging.orders.petstore.test/v1",
    supportContact: "o'brien+r&d@xn--mller-kva.example",
  });
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
  const admin = readFileSync(join(PROJECT, "dist/admin-openapi.txt"), "utf8");
  // The service does this for each answer.
  writeFileSync(join(folder, "admin.json"), admin.replaceAll("{{origin}}", "https://orders.petstore.test"));
  const rules = ["--extends", "recommended-strict", "--format", "github-actions"];
  const { code, out } = await runRedocly(["lint", "openapi.json", "admin.json", ...rules], folder);
  expect({ code, findings: out.match(/^::.*$/gm) }).toEqual({ code: 0, findings: null });
});
