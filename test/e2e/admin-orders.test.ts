/** Importing orders through the admin API and the command line, with every digit. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { ImportResult } from "../../src/worker/orders/import-requests.ts";
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

const ACCEPTED = {
  import: expect.stringMatching(/^imp_/),
  unchanged: 0,
  cancelled: 0,
  reinserted: 0,
  backwards: 0,
  refusedCount: 0,
  stopped: false,
  refused: [],
};

/** The figures that `orders import` prints. */
function figuresIn(out: string): string {
  const figures = out.match(/^(inserted|updated|unchanged|refused) +\d+$/gm) ?? [];
  return figures.map((line) => line.replace(/ +/, " ")).join(", ");
}

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
      version: 2,
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
      import: expect.stringMatching(/^imp_/),
      inserted: 2,
      updated: 0,
      unchanged: 0,
      cancelled: 0,
      reinserted: 0,
      backwards: 0,
      stopped: false,
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

  it("refuses only the line that the database refuses, and stores the others of its chunk", async ({
    expect,
  }) => {
    await service.db
      .prepare(
        "create trigger fail_insert before insert on orders when new.id = 31500 begin select raise(abort, 'test'); end",
      )
      .run();
    const lines = Array.from({ length: 2_500 }, (_, i) => `{"id":${30_001 + i}}`);
    const result = await load(lines.join("\n"));
    await service.db.exec("drop trigger fail_insert");
    expect(result).toMatchObject({ inserted: 2_499, updated: 0, refusedCount: 1 });
    expect(result.refused).toEqual([{ line: 1_500, reason: "could not be stored; please import it again" }]);
    const stored = await service.db
      .prepare("select count(*) as count from orders where id between 30001 and 32500")
      .first();
    expect(stored).toEqual({ count: 2_499 });
  });

  it("stores every accepted ship date in the format that the database requires", async ({ expect }) => {
    const dates = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.9999Z", "2024-02-29T12:00:00.5-11:59"];
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
      version: 2,
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
    const base = 9_007_199_254_750_993n;
    const lines = Array.from(
      { length: MANY },
      (_, i) => `{"id":${base + BigInt(i)},"petId":${i},"quantity":2,"complete":false}`,
    );
    const file = importedFile("many.ndjson", `${lines.join("\n")}\n`);
    const { code, out, err } = await cli(["orders", "import", file]);
    expect([code, figuresIn(out)]).toEqual([0, `inserted ${MANY}, updated 0, unchanged 0, refused 0`]);
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
      import: expect.stringMatching(/^imp_/),
      inserted: 2,
      updated: 0,
      unchanged: 0,
      cancelled: 0,
      reinserted: 0,
      backwards: 0,
      stopped: false,
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
    expect((await cli(["orders", "import", pretty])).out).toContain("inserted    2");
    const lines = importedFile("lines.ndjson", '{"id":72}\n[1]\n{"id":73}\n');
    const { code, out } = await cli(["orders", "import", lines]);
    expect(code).toBe(1);
    expect(figuresIn(out)).toBe("inserted 2, updated 0, unchanged 0, refused 1");
    expect(out).toMatch(/\n {2}2: is not a JSON object\n$/);
  });

  it("shows the first refused lines and the number of the others", async ({ expect }) => {
    const { code, out } = await cli(
      ["orders", "import", "-"],
      Array.from({ length: 60 }, () => '{"id":0.5}').join("\n"),
    );
    expect(code).toBe(1);
    expect(out.match(/^ {2}\d+: id: must be/gm)).toHaveLength(50);
    expect(out).toContain("and 10 more; --json lists them");
  });

  it("reports a file that cannot be read or is empty", async ({ expect }) => {
    const missing = await cli(["orders", "import", join(folder, "missing")]);
    expect([missing.code, missing.out]).toEqual([1, ""]);
    expect(missing.err).toMatch(/The file cannot be read: ENOENT/);
    expect((await cli(["orders", "import", folder])).err).toMatch(/cannot be read: EISDIR/);
    const empty = await cli(["orders", "import", "-"], "\n");
    expect(empty.code).toBe(1);
    expect(empty.err).toContain("error: The input contains no orders.");
  });

  it("is one import with one audit row, which has the file's name and its figures", async ({ expect }) => {
    const lines = Array.from({ length: 5_003 }, (_, i) => `{"id":${200_000 + i}}`);
    const file = importedFile("one.ndjson", [...lines, "[1]", ""].join("\n"));
    const { out } = await cli(["--json", "orders", "import", file]);
    const { import: id } = JSON.parse(out);
    const { audit } = (await service.admin("GET", `/audit?object=${id}`)).body;
    const figures = { file: "one.ndjson", inserted: 5_003, updated: 0, unchanged: 0, refused: 1 };
    expect(audit).toMatchObject([
      { call: "orders.import", actor: expect.stringMatching(/^(?!operator$)./), after: figures },
    ]);
    expect((await cli(["orders", "imports", "--limit", "1"])).out).toMatch(
      new RegExp(` one\\.ndjson .* 5003 +0 +0 +0 +1 +${id}\n$`),
    );
  });

  it("with --dry-run counts, and stores nothing", async ({ expect }) => {
    const lines = Array.from({ length: 6_000 }, (_, i) => `{"id":${300_000 + i}}`);
    const file = importedFile("dry.ndjson", [...lines, "{}"].join("\n"));
    const { code, out } = await cli(["orders", "import", file, "--dry-run"]);
    expect(code).toBe(1);
    expect(out).toMatch(/^import +a dry run: nothing was stored\n/);
    expect(figuresIn(out)).toBe("inserted 6000, updated 0, unchanged 0, refused 1");
    expect((await service.admin("GET", "/orders/300000")).status).toBe(404);
  });
});

describe("orders list, set-status and delete", () => {
  const id = "9223372036854775806";

  it("list with filters, over several pages of the service, with every digit", async ({ expect }) => {
    const lines = Array.from({ length: 800 }, (_, i) => `{"id":${500_000 + i},"petId":70077}`);
    await load([...lines, `{"id":${id},"petId":70077,"status":"processing"}`].join("\n"));
    const all = JSON.parse((await cli(["--json", "orders", "list", "--pet", "70077", "--limit", "801"])).out);
    expect(all.orders).toHaveLength(801);
    const { out } = await cli(["orders", "list", "--pet", "70077", "--status", "processing", "--limit", "1"]);
    expect(out).toMatch(new RegExp(`^${id} +processing +70077 `, "m"));
    const page = await cli(["orders", "list", "--pet", "70077", "--limit", "3"]);
    expect(page.err).toBe("More: --after 500002\n");
    expect((await cli(["--json", "orders", "list", "--after", "500799", "--pet", "70077"])).out).toContain(
      `{"orders":[{"id":${id},"petId":70077,`,
    );
    expect((await cli(["orders", "list", "--pet", "1.5"])).code).toBe(2);
  });

  it("set-status goes backwards only with --allow-backwards", async ({ expect }) => {
    expect((await cli(["orders", "set-status", id, "delivered"])).out).toContain("delivered");
    const refused = await cli(["orders", "set-status", id, "pending"]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("The order is delivered") });
    expect((await cli(["orders", "ship", id])).code).toBe(1);
    expect((await cli(["orders", "set-status", id, "pending", "--allow-backwards"])).out).toContain(
      "pending",
    );
  });

  it("delete asks, or takes --yes, and shows what was deleted", async ({ expect }) => {
    expect((await cli(["orders", "delete", id])).code).toBe(2);
    const deleted = await cli(["orders", "delete", id, "--yes"]);
    expect(deleted.out).toMatch(new RegExp(`^id +${id}\\n[\\s\\S]*\\nDeleted\\.\\n$`));
    expect(await cli(["orders", "delete", id, "--yes"])).toMatchObject({
      code: 1,
      err: "error: No order has this id.\n",
    });
  });
});
