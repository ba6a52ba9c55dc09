/** Files of orders that the command line loads, with every digit. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { runAdmin, temporaryFolder } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

/** Three batches of the command line, the last of them not full. */
const MANY = 2_500;

let service: Service;
let key: string;
const folder = temporaryFolder();

beforeAll(async () => {
  service = await openService();
  ({ key } = await service.createKey());
});

function cli(args: string[], input = "") {
  return runAdmin(args, { ADMIN_URL: service.url.href, ADMIN_TOKEN }, { input });
}

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe("orders load", () => {
  it("loads a file with progress, and the list has every order with all digits", async ({ expect }) => {
    const base = 9_007_199_254_750_993n;
    const orders = Array.from(
      { length: MANY },
      (_, i) => `{"id":${base + BigInt(i)},"petId":${i},"quantity":2,"complete":false}`,
    );
    const file = written("many.ndjson", `${orders.join("\n")}\n`);
    const { code, out, err } = await cli(["--json", "orders", "load", file]);
    expect([code, JSON.parse(out)]).toMatchObject([0, { read: MANY, inserted: MANY, refused: 0 }]);
    expect(err).toMatch(/^1000 read, 1000 inserted, .*\n2000 read, .*\n2500 read, 2500 inserted, .*\n$/);
    const listed = await (await service.call(key, LIST)).text();
    for (const i of [0, 1, 1_234, MANY - 1]) expect(listed).toContain(orders[i]);
    expect(listed.match(/"quantity":2,"complete":false/g)).toHaveLength(MANY);
    const { audit } = (await service.admin("GET", "/audit?call=orders.load&limit=3")).body;
    expect(audit).toMatchObject(
      [500, 1_000, 1_000].map((inserted) => ({ after: { file: "many.ndjson", inserted } })),
    );
  });

  it("stores the other lines of a file, and says what is wrong with the refused ones", async ({ expect }) => {
    const file = written("wrong.ndjson", '{"id":72}\n\nx\n{"id":72}\n{"id":74}\n');
    const { code, out, err } = await cli(["orders", "load", file, "--batch", "1"]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^read +4\ninserted +2\nupdated +0\nunchanged +0\ncancelled +0\nkept +0\nrefused +2\n$/,
    );
    expect(err).toMatch(/^line 3: .*is not valid JSON\nline 4: id: stands in line 1 already\n1 read, /);
    expect(err).toMatch(/error: Refused lines: 2\.\n$/);
    writeFileSync(file, '[{"id":73},');
    expect((await cli(["orders", "load", file])).err).toContain("error: Nothing was loaded. ");
  });
});
