/** Loading orders with the command line, and changing them, with every digit. */
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
      cancelledAt: string;
      number: number;
    }[];
    expect(newest?.cancelledBy).toMatch(/^key_/);
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

  it("loads what orders export wrote, as NDJSON or CSV, without any change", async ({ expect }) => {
    await load(
      '{"id":-80,"petId":-5,"shipDate":"2026-11-21T10:00:00Z","complete":true}',
      '{"id":81,"status":"shipped"}',
    );
    for (const options of [[], ["--csv"]]) {
      const { out, err } = await cli(["orders", "export", ...options]);
      const loaded = JSON.parse((await cli(["--json", "orders", "load", "-"], out)).out);
      const count = Number.parseInt(err, 10);
      expect(loaded).toMatchObject({ read: count, inserted: 0, updated: 0, unchanged: count, refused: 0 });
    }
  });

  it("leaves cancelled orders cancelled, or restores them; with --dry-run it only counts", async ({
    expect,
  }) => {
    await load('{"id":90}');
    await service.call(key, `${LIST}/90`, { method: "DELETE" });
    const figuresOf = async (...options: string[]) =>
      JSON.parse((await cli(["--json", "orders", "load", "-", ...options], '{"id":90}')).out);
    expect(await figuresOf()).toMatchObject({ inserted: 0, cancelled: 1 });
    const dryRun = await cli(["orders", "load", "-", "--restore-cancelled", "--dry-run"], '{"id":90}');
    expect(dryRun.out).toMatch(/^inserted +1$/m);
    expect(dryRun.err).toMatch(/^dry run: nothing was stored$/m);
    expect((await service.admin("GET", "/orders/90")).status).toBe(404);
    expect(await figuresOf("--restore-cancelled")).toMatchObject({ inserted: 1 });
    expect((await service.admin("GET", "/orders/90")).status).toBe(200);
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

describe("orders list, set-status and delete", () => {
  const id = "9223372036854775806";
  const line = `{"id":${id},"petId":70077,"status":"processing"}`;

  it("list with filters, over several pages of the service, with every digit", async ({ expect }) => {
    const lines = Array.from({ length: 800 }, (_, i) => `{"id":${500_000 + i},"petId":70077}`);
    await load(...lines, line);
    const all = JSON.parse((await cli(["--json", "orders", "list", "--pet", "70077", "--limit", "801"])).out);
    expect(all.orders).toHaveLength(801);
    const { out } = await cli(["orders", "list", "--pet", "70077", "--status", "processing", "--limit", "1"]);
    expect(out).toMatch(new RegExp(`^${id} +processing +70077$`, "m"));
    const page = await cli(["orders", "list", "--pet", "70077", "--limit", "3"]);
    expect(page.err).toBe("More: --after 500002\n");
    expect((await cli(["--json", "orders", "list", "--after", "500799", "--pet", "70077"])).out).toContain(
      `{"orders":[{"id":${id},"petId":70077,`,
    );
    expect((await cli(["orders", "list", "--pet", "1.5"])).code).toBe(2);
  });

  it("set-status goes backwards only with --allow-backwards", async ({ expect }) => {
    await load(line);
    expect((await cli(["orders", "set-status", id, "delivered"])).out).toContain("delivered");
    const refused = await cli(["orders", "set-status", id, "pending"]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("The order is delivered") });
    expect((await cli(["orders", "ship", id])).code).toBe(1);
    expect((await cli(["orders", "set-status", id, "pending", "--allow-backwards"])).out).toContain(
      "pending",
    );
  });

  it("delete asks, or takes --yes, and shows what was deleted", async ({ expect }) => {
    await load(line);
    expect((await cli(["orders", "delete", id])).code).toBe(2);
    const deleted = await cli(["orders", "delete", id, "--yes"]);
    expect(deleted.out).toMatch(new RegExp(`^id +${id}$`, "m"));
    expect(await cli(["orders", "delete", id, "--yes"])).toMatchObject({
      code: 1,
      err: "error: No order has this id.\n",
    });
  });
});
