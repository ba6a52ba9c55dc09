/** Files of orders that the command line loads, with every digit. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

async function load(...orders: readonly string[]): Promise<void> {
  const { status, text } = await service.admin("PUT", "/orders", `[${orders.join(",")}]`);
  if (status !== 200) throw new Error(text);
}

function cli(args: string[], input = "") {
  return runAdmin(args, { ADMIN_URL: service.url.href, ADMIN_TOKEN }, { input });
}

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe("an order", () => {
  const QUANTITY = "9223372036854775805";
  it("keeps all digits of an int64 from the load to the list of cancelled ones", async ({ expect }) => {
    const ids = ["9223372036854775807", "9007199254740993", "-9223372036854775808"];
    await load(...ids.map((id) => `{"id":${id},"petId":${id},"quantity":${QUANTITY}}`));
    const listed = await (await service.call(key, LIST)).text();
    for (const id of ids) {
      const members = `"id":${id},"petId":${id},"quantity":${QUANTITY}`;
      expect(listed).toContain(`{${members}}`);
      expect((await service.admin("GET", `/orders/${id}`)).text).toContain(members);
      expect((await service.call(key, `${LIST}/${id}`, { method: "DELETE" })).status).toBe(204);
    }
    const cancelled = await service.admin("GET", "/orders/cancelled?limit=3");
    for (const id of ids) {
      expect(cancelled.text).toContain(`"id":${id},"petId":${id},"quantity":${QUANTITY}`);
      expect((await cli(["orders", "cancelled"])).out).toMatch(
        new RegExp(`^ *${id} +${id} +${QUANTITY} `, "m"),
      );
    }
    const [newest] = cancelled.body.cancelled as {
      cancelledBy: string;
      cancelledByName: string;
      cancelledAt: string;
      number: number;
    }[];
    expect(newest?.cancelledBy).toMatch(/^key_/);
    expect((await service.admin("GET", `/keys/${newest?.cancelledBy}`)).body.name).toBe(
      newest?.cancelledByName,
    );
    expect(newest?.cancelledAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const next = (await service.admin("GET", `/orders/cancelled?limit=2&before=${newest?.number}`)).body;
    expect(next.cancelled).toHaveLength(2);
  });
});

describe("orders load", () => {
  it("loads each format with progress, and the list has every order with all digits", async ({ expect }) => {
    const base = 9_007_199_254_750_993n;
    const ids = Array.from({ length: MANY }, (_, i) => base + BigInt(i));
    const objects = ids.map((id, i) => `{"id":${id},"petId":${i},"quantity":2,"complete":false}`);
    const rows = ids.map((id, i) => `${id},${i},2,false`);
    const lines = written("many.ndjson", `${objects.join("\n")}\n`);
    const array = written("many.json", `[${objects.join(",\n  ")}]`);
    const csv = written("many.csv", `\ufeffid,petId,quantity,complete\r\n${rows.join("\r\n")}\r\n`);
    const figures = {
      read: MANY,
      inserted: 0,
      updated: 0,
      unchanged: MANY,
      cancelled: 0,
      kept: 0,
      refused: 0,
    };

    const { code, out, err } = await cli(["--json", "orders", "load", lines]);
    expect([code, JSON.parse(out)]).toEqual([0, { ...figures, inserted: MANY, unchanged: 0 }]);
    expect(err).toMatch(/^1000 read, 1000 inserted, .*\n2000 read, .*\n2500 read, 2500 inserted, .*\n$/);
    for (const file of [array, csv]) {
      expect(JSON.parse((await cli(["--json", "orders", "load", file])).out)).toEqual(figures);
    }
    const listed = await (await service.call(key, LIST)).text();
    for (const i of [0, 1, 1_234, MANY - 1]) expect(listed).toContain(objects[i]);
    expect(listed.match(/"quantity":2,"complete":false/g)).toHaveLength(MANY);
    const { audit } = (await service.admin("GET", "/audit?call=orders.load&limit=3")).body;
    expect(audit).toMatchObject(
      [500, 1_000, 1_000].map((inserted) => ({ after: { file: "many.ndjson", inserted } })),
    );
  });

  it("stores the other lines of a file, and writes the refused ones to a file of their own", async ({
    expect,
  }) => {
    const file = written("wrong.ndjson", '{"id":72}\n\nx\n{"id":72}\n{"id":74}\n');
    const { code, out, err } = await cli(["orders", "load", file, "--batch", "1"]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^read +4\ninserted +2\nupdated +0\nunchanged +0\ncancelled +0\nkept +0\nrefused +2\n$/,
    );
    expect(err).toMatch(/error: Refused lines: 2, in .*wrong\.ndjson\.rejected\.ndjson\.\n$/);
    const rejected = readFileSync(`${file}.rejected.ndjson`, "utf8").trim().split("\n");
    expect(rejected.map((line) => JSON.parse(line))).toEqual([
      { line: 3, text: "x", reason: expect.stringContaining("is not valid JSON") },
      { line: 4, text: '{"id":72}', reason: "id: stands in line 1 already" },
    ]);
    writeFileSync(file, '{"id":73}\n');
    expect((await cli(["orders", "load", file])).code).toBe(0);
    expect(existsSync(`${file}.rejected.ndjson`)).toBe(false);
  });

  it("shows the refused lines, and stores the others, where no file can be written", async ({ expect }) => {
    const file = written("wrong.csv", "id\n75\nx\n76\n");
    mkdirSync(`${file}.rejected.ndjson`);
    const { code, err } = await cli(["orders", "load", file, "--batch", "1"]);
    expect(code).toBe(1);
    expect(err).toContain(
      '{"line":3,"text":"x","reason":"id: must be a whole number of 64 bits, in digits"}\n',
    );
    expect(err).toMatch(/\nerror: Refused lines: 1\. .*wrong\.csv\.rejected\.ndjson cannot be written\.\n$/);
    expect((await service.admin("GET", "/orders/76")).status).toBe(200);
  });

  it("reports a file that cannot be read or is empty", async ({ expect }) => {
    const missing = await cli(["orders", "load", join(folder, "missing")]);
    expect(missing).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/^error: ENOENT/) });
    expect((await cli(["orders", "load", folder])).err).toMatch(/^error: EISDIR/);
    for (const empty of ["\n", "[]", "id,petId\n"]) {
      const { code, err } = await cli(["orders", "load", "-"], empty);
      expect([code, err]).toEqual([1, expect.stringContaining("error: The file has no orders.")]);
    }
  });
});
