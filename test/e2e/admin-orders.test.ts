/** Importing orders through the admin API and the command line, with every digit. test/slow imports 100,000. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import type { ImportResult } from "../../src/worker/admin/order-import-service.ts";
import { runAdmin, temporaryFolder } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

/** Three requests of the command line, the last of them not full. */
const MANY = 12_000;

let service: Service;
let key: string;
const folder = temporaryFolder();

beforeAll(async () => {
  service = await openService();
  ({ key } = await service.createKey());
});

async function load(text: string): Promise<ImportResult> {
  return JSON.parse((await service.admin("POST", "/orders", text)).text);
}

function cli(args: string[], input = "") {
  return runAdmin(args, { ADMIN_URL: service.url.href, ADMIN_TOKEN }, { input });
}

function importedFile(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const ACCEPTED = { refusedCount: 0, refused: [] };

describe("importing orders", () => {
  it("accepts a JSON array or one object per line, and counts inserted and updated orders", async ({
    expect,
  }) => {
    const orders = [{ id: 1 }, { id: 2, petId: 5, quantity: 3, complete: true }];
    expect(await load(JSON.stringify(orders, null, 2))).toEqual({ inserted: 2, updated: 0, ...ACCEPTED });
    expect(await load('{"id":2,"petId":6}\r\n\r\n{"id":3}')).toEqual({
      inserted: 1,
      updated: 1,
      ...ACCEPTED,
    });
    expect((await service.admin("GET", "/orders/2")).body).toEqual({
      id: 2,
      petId: 6,
      quantity: null,
      shipDate: null,
      complete: null,
      status: "pending",
    });
  });

  it("keeps the status of a known order if its line has none, also within one request", async ({
    expect,
  }) => {
    await load('{"id":10,"status":"shipped"}');
    await load('{"id":10,"quantity":1}');
    expect((await service.admin("GET", "/orders/10")).body).toMatchObject({ quantity: 1, status: "shipped" });
    const twice = await load('{"id":11,"status":"delivered"}\n{"id":11,"quantity":2}');
    expect(twice).toEqual({ inserted: 1, updated: 1, ...ACCEPTED });
    expect((await service.admin("GET", "/orders/11")).body).toMatchObject({
      quantity: 2,
      status: "delivered",
    });
  });

  it("refuses invalid lines, with their numbers and every reason, and imports the others", async ({
    expect,
  }) => {
    const result = await load(
      '{"id":20}\n\nnonsense\n{"id":"21","price":5}\n{"id":22,"shipDate":"2026-02-30T00:00:00Z"}\n{"id":23}',
    );
    expect(result).toEqual({
      inserted: 2,
      updated: 0,
      refusedCount: 3,
      refused: [
        { line: 3, reason: "is not valid JSON" },
        { line: 4, reason: "id: must be a whole number of 64 bits, in digits; price: is not a known field" },
        { line: 5, reason: "shipDate: must be an RFC 3339 date-time that exists" },
      ],
    });
    expect((await load('[{"id":24},{"id":25}')).refused).toEqual([
      { line: 2, reason: "the array ends before its closing bracket" },
    ]);
  });

  it("stores a thousand lines at a time, all of them or none", async ({ expect }) => {
    await service.db
      .prepare(
        "create trigger fail_insert before insert on orders when new.id = 31500 begin select raise(abort, 'test'); end",
      )
      .run();
    const lines = Array.from({ length: 2_500 }, (_, i) => `{"id":${30_001 + i}}`);
    const result = await load(lines.join("\n"));
    await service.db.exec("drop trigger fail_insert");
    expect(result).toMatchObject({ inserted: 1_500, updated: 0, refusedCount: 1_000 });
    expect(result.refused.map(({ line }) => line)).toEqual(
      Array.from({ length: 1_000 }, (_, i) => 1_001 + i),
    );
    const stored = await service.db
      .prepare("select count(*) as count from orders where id between 31001 and 32000")
      .first();
    expect(stored).toEqual({ count: 0 });
  });

  it("stores every accepted ship date in the format that the database requires", async ({ expect }) => {
    const dates = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.9999Z", "2024-02-29t12:00:00.5-11:59"];
    const lines = dates.map((shipDate, i) => JSON.stringify({ id: 40 + i, shipDate }));
    expect(await load(lines.join("\n"))).toEqual({ inserted: 3, updated: 0, ...ACCEPTED });
    expect((await service.admin("GET", "/orders/42")).body.shipDate).toBe("2024-02-29T23:59:00.500Z");
  });
});

describe("an order", () => {
  it("is changed by field; null removes a field; it can be shipped", async ({ expect }) => {
    await load('{"id":50,"petId":1,"quantity":1,"complete":true}');
    const changed = await service.admin("PATCH", "/orders/50", {
      quantity: 4,
      complete: null,
      shipDate: "2026-11-21T12:00:00+02:00",
      status: "shipped",
    });
    expect(changed.body).toEqual({
      id: 50,
      petId: 1,
      quantity: 4,
      shipDate: "2026-11-21T10:00:00.000Z",
      complete: null,
      status: "shipped",
    });
    expect((await service.call(key, `${LIST}/50`, { method: "DELETE" })).status).toBe(409);
    const wrong = await service.admin("PATCH", "/orders/50", { shipDate: "x", status: "lost", petId: 2 });
    expect(wrong.body.message.split("; ").map((fault) => fault.split(":")[0])).toEqual([
      "status",
      "shipDate",
      "petId",
    ]);
    expect((await service.admin("PATCH", "/orders/50", {})).status).toBe(400);
  });

  it("keeps all digits of an int64 from the import to the list of cancelled ones", async ({ expect }) => {
    const ids = ["9223372036854775807", "9007199254740993", "-9223372036854775808"];
    await load(ids.map((id) => `{"id":${id},"petId":${id},"quantity":${id}}`).join("\n"));
    const listed = await (await service.call(key, LIST)).text();
    for (const id of ids) {
      const members = `"id":${id},"petId":${id},"quantity":${id}`;
      expect(listed).toContain(`{${members}}`);
      expect((await service.admin("GET", `/orders/${id}`)).text).toContain(members);
      expect((await service.call(key, `${LIST}/${id}`, { method: "DELETE" })).status).toBe(204);
    }
    const cancelled = await service.admin("GET", "/orders/cancelled?limit=3");
    for (const id of ids) {
      expect(cancelled.text).toContain(`"id":${id},"petId":${id},"quantity":${id}`);
      expect((await cli(["orders", "cancelled"])).out).toMatch(new RegExp(`^${id} +${id} +${id} `, "m"));
    }
    const [newest] = cancelled.body.cancelled as {
      cancelledBy: string;
      cancelledAt: string;
      number: number;
    }[];
    expect(newest?.cancelledBy).toMatch(/^key_/);
    expect(newest?.cancelledAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const next = (await service.admin("GET", `/orders/cancelled?limit=2&before=${newest?.number}`)).body;
    expect(next.cancelled).toHaveLength(2);
  });
});

describe("orders import", () => {
  it(`imports ${MANY} lines with progress, and the list has every one with all digits`, async ({
    expect,
  }) => {
    const base = 9_007_199_254_740_993n;
    const lines = Array.from(
      { length: MANY },
      (_, i) => `{"id":${base + BigInt(i)},"petId":${i},"quantity":2,"complete":false}`,
    );
    const file = importedFile("many.ndjson", `${lines.join("\n")}\n`);
    const { code, out, err } = await cli(["orders", "import", file]);
    expect([code, out]).toEqual([0, `inserted  ${MANY}\nupdated   0\nrefused   0\n`]);
    expect(err).toMatch(/█+.* 100 % \| 12000 loaded, 0 refused/);
    const listed = await (await service.call(key, LIST)).text();
    for (const i of [0n, 1n, 4_321n, BigInt(MANY) - 1n]) {
      expect(listed).toContain(`{"id":${base + i},"petId":${i},"quantity":2,"complete":false}`);
    }
    expect(listed.match(/"quantity":2,"complete":false/g)).toHaveLength(MANY);
  });

  it("reads standard input, and --json gives the counts and every refused line", async ({ expect }) => {
    const { code, out } = await cli(
      ["--json", "orders", "import", "-"],
      '[{"id":60},,[1],{"id":61,"petId":"x"},{"id":62}]',
    );
    expect(JSON.parse(out)).toEqual({
      inserted: 2,
      updated: 0,
      refusedCount: 3,
      refused: [
        { line: 2, reason: "is not a JSON object" },
        { line: 3, reason: "is not a JSON object" },
        { line: 4, reason: "petId: must be a whole number of 64 bits, in digits" },
      ],
    });
    expect(code).toBe(1);
  });

  it("accepts an array over many lines, and does not read a line that begins with a bracket as an array", async ({
    expect,
  }) => {
    const pretty = importedFile("pretty.json", JSON.stringify([{ id: 70 }, { id: 71, petId: 1 }], null, 4));
    expect((await cli(["orders", "import", pretty])).out).toContain("inserted  2");
    const lines = importedFile("lines.ndjson", '{"id":72}\n[1]\n{"id":73}\n');
    const { code, out } = await cli(["orders", "import", lines]);
    expect(code).toBe(1);
    expect(out).toBe("inserted  2\nupdated   0\nrefused   1\n  line 2: is not a JSON object\n");
  });

  it("shows the first refused lines and the number of the others", async ({ expect }) => {
    const { code, out } = await cli(
      ["orders", "import", "-"],
      Array.from({ length: 60 }, () => '{"id":0.5}').join("\n"),
    );
    expect(code).toBe(1);
    expect(out.match(/^ {2}line \d+: id: must be/gm)).toHaveLength(50);
    expect(out).toContain("and 10 more; --json lists them");
  });

  it("reports a file that cannot be read or is empty", async ({ expect }) => {
    const missing = await cli(["orders", "import", join(folder, "missing")]);
    expect([missing.code, missing.out]).toEqual([1, ""]);
    expect(missing.err).toMatch(/missing cannot be read: ENOENT/);
    expect((await cli(["orders", "import", folder])).err).toMatch(/cannot be read: EISDIR/);
    const empty = await cli(["orders", "import", "-"], "\n");
    expect(empty.code).toBe(1);
    expect(empty.err).toContain("error: Standard input contains no orders.");
  });

  it("writes an audit row with its operator for each chunk", async ({ expect }) => {
    const rows = (await service.admin("GET", "/audit?object=orders&limit=1")).body.audit;
    expect(rows).toMatchObject([{ call: "orders.import", actor: expect.stringMatching(/^(?!operator$)./) }]);
  });
});
