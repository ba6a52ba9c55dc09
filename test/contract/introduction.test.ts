/** The programs of the document's introduction that need packages of npm. Those without: test/slow. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { runProcess } from "../support/cli.ts";
import { introductionOf, writeProgram } from "../support/introduction.ts";
import { type Service, startService } from "../support/service.ts";

// Within node_modules, so that the programs find their packages.
const folder = mkdtempSync(join(import.meta.dirname, "node_modules/.introduction-"));
let service: Service;

beforeAll(async () => {
  service = await startService();
  await service.db
    .prepare(
      "insert into orders (id, pet_id, quantity, ship_date, complete, status) values (9007199254740993, 7, 2, null, 0, 'pending')",
    )
    .run();
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service?.close();
});

describe("the introduction's program", () => {
  it.for([
    ["JavaScript with [ky]", '[{"id":9007199254740993,"petId":7,"quantity":2,"complete":false}]\n'],
    ["With openapi-fetch", "9007199254740993n\n"],
    ["With json-bigint", "9007199254740993n\n"],
  ] as const)("%s reads an id of 64 bits", async ([before, printed], { expect }) => {
    const { key } = await service.createKey();
    const program = writeProgram(await introductionOf(service), before, folder);
    expect(await runProcess(process.execPath, [program], { KEY: key })).toMatchObject({
      code: 0,
      out: printed,
    });
  });
});
