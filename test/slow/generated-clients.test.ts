/** Clients that three generators make of the served OpenAPI document, unmodified, list and cancel orders; Postman finds the service. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, it } from "vitest";
import { CLIENTS, compile, generateClients, postmanCollection } from "../contract/clients/generate.ts";
import { runProcess, temporaryFolder } from "../support/cli.ts";
import { LIST, type Service, startService } from "../support/service.ts";

const folder = temporaryFolder();
let service: Service;

beforeAll(async () => {
  service = await startService({ SUPPORT_CONTACT: "o'brien+r&d@xn--mller-kva.example" });
  await generateClients(new URL("/openapi.json", service.url).href, folder);
});

afterAll(() => service.close());

describe("the generated clients", () => {
  it("compile, with the programs that use them", async ({ expect }) => {
    expect(await compile(folder)).toBe("");
  });

  for (const client of CLIENTS) {
    it(`${client} lists, cancels, and gets the codes of 409 and 429`, async ({ expect }) => {
      await service.db.exec(
        "insert or replace into orders (id, pet_id, quantity, ship_date, complete, status) values (1, 7, 2, '2026-11-24T09:00:00.000Z', 0, 'pending'), (2, 7, 1, null, null, 'shipped')",
      );
      const usable = await service.createKey();
      const exhausted = await service.createKey({ perMinute: 1, perDay: 1 });
      await service.call(exhausted.key, LIST);

      expect(await run(client, { usable: usable.key, exhausted: exhausted.key })).toEqual({
        listed: [
          { id: 1, petId: 7, quantity: 2, shipDate: "2026-11-24T09:00:00.000Z", complete: false },
          { id: 2, petId: 7, quantity: 1 },
        ],
        cancelled: 204,
        conflict: { status: 409, code: "order_already_shipped" },
        limited: { status: 429, code: "rate_limit_exceeded", waitsSeconds: true },
      });
    });
  }
});

describe("Postman's collection", () => {
  it("has an absolute base URL and asks for the key", async ({ expect }) => {
    const document = join(folder, "openapi.json");
    writeFileSync(document, await (await fetch(new URL("/openapi.json", service.url))).text());
    const collection = JSON.parse(readFileSync(await postmanCollection(document, folder), "utf8"));
    expect(collection.variable).toContainEqual(
      expect.objectContaining({ key: "baseUrl", value: new URL("/v1", service.url).href }),
    );
    expect(collection.auth.type).toBe("bearer");
  });
});

/** Runs the program of a client as a process, and returns its outcome. */
async function run(client: string, keys: object): Promise<unknown> {
  const outfile = join(folder, `${client}.mjs`);
  await build({
    stdin: {
      contents: `import { run } from "./${client}"; console.log(JSON.stringify(await run(${JSON.stringify(keys)})));`,
      resolveDir: folder,
    },
    ...{ bundle: true, format: "esm", platform: "node", outfile, logLevel: "silent" },
  });
  const { out, err } = await runProcess(process.execPath, [outfile]);
  return err === "" ? JSON.parse(out) : err;
}
