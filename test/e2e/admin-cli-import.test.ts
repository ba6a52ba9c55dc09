/** `orders import` of files that are no JSON, that hide control characters, or whose orders are refused. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, it } from "vitest";
import { type Finished, runAdmin, temporaryFolder } from "../support/cli.ts";
import { ADMIN_TOKEN, openService, type Service } from "../support/service.ts";

const folder = temporaryFolder();
const JSON_EXPECTED = "An import takes a JSON array, or one JSON object per line (NDJSON), in UTF-8.";
let service: Service;

beforeAll(async () => {
  service = await openService();
});

function importFile(name: string, env: Record<string, string> = {}): Promise<Finished> {
  return runAdmin(["orders", "import", name], { ADMIN_URL: service.url.href, ADMIN_TOKEN, ...env });
}

function importText(input: string, ...options: string[]): Promise<Finished> {
  return runAdmin(
    ["orders", "import", "-", ...options],
    { ADMIN_URL: service.url.href, ADMIN_TOKEN },
    { input },
  );
}

describe("a file that is no JSON is refused as a whole, in one line", () => {
  const json = '{"id":1}\n{"id":2}\n';
  const cases: [string, Buffer, string][] = [
    ["gzip", gzipSync(json), "is compressed with gzip"],
    ["zip", Buffer.from("PK\u0003\u0004..."), "is a ZIP archive or a spreadsheet"],
    ["utf16le", Buffer.from(`\uFEFF${json}`, "utf16le"), "is in UTF-16"],
    ["utf16be", Buffer.from(`\uFEFF${json}`, "utf16le").swap16(), "is in UTF-16"],
    ["utf16", Buffer.from(json, "utf16le"), "is in UTF-16"],
    ["csv", Buffer.from("id,petId,quantity\n1,2,3\n"), "is not JSON but looks like CSV"],
    // What is in it is not repeated: it can be a token.
    ["text", Buffer.from("ADMIN_TOKEN=hello"), "is not JSON"],
  ];
  for (const [name, content, problem] of cases) {
    it(name, async ({ expect }) => {
      const file = join(folder, name);
      writeFileSync(file, content);
      expect(await importFile(file)).toEqual({
        code: 1,
        out: "",
        err: `error: The file ${problem}. ${JSON_EXPECTED}\n`,
      });
    });
  }
});

describe("a refused order", () => {
  it("of an array is shown with its element and the line on which that begins", async ({ expect }) => {
    const { code, out } = await importText('\n[\n  {"id": 1},\n  {"id":\n   0.5}, {"id": 0.5},\n\n  7]');
    expect(code).toBe(1);
    expect(out.split("\n").slice(5)).toEqual([
      "  element 2, line 4: id: must be a whole number of 64 bits, in digits",
      "  element 3, line 5: id: must be a whole number of 64 bits, in digits",
      "  element 4, line 7: is not a JSON object",
      "",
    ]);
  });

  it("is shown without control and bidirectional characters of its names, and shortened", async ({
    expect,
  }) => {
    const { out } = await importText(
      `{"id":1,"\\u001b[2J\u009b1m\u202egnp.exe":1}\n{"id":2,"${"x".repeat(10_000)}":1}`,
    );
    expect(out).not.toMatch(/[^\P{C}\n]/u);
    expect(out).toContain("\\u001b[2J\\u009b1m\\u202egnp.exe");
    expect(out).toMatch(/^ {2}line 2: "x+….* is not a known field$/m);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThan(100);
  });
});

describe("an import with many refused lines", () => {
  const bad = Array.from({ length: 25 }, () => "{}").join("\n");
  const run = (...options: string[]) =>
    runAdmin(
      ["orders", "import", "-", ...options],
      { ADMIN_URL: service.url.href, ADMIN_TOKEN },
      {
        input: `{"id":810}\n${bad}\n{"id":811}`,
      },
    );
  const after = "lines are refused (--max-refused): nothing after line";

  it.each(["--max-refused=9", "--dry-run --max-refused=9"])("stops, with %s", async (options) => {
    for (const size of [1, 4, 9, 5_000]) {
      const { code, out } = await run(...options.split(" "), "--batch-size", String(size));
      if (code !== 1 || !out.includes(`Stopped, because 9 ${after} 10 was read.`)) throw new Error(out);
      if (!/^refused +9$/m.test(out)) throw new Error(out);
    }
  });

  it("is read to its end if the last line that is allowed is the last one", async ({ expect }) => {
    const { out } = await run("--max-refused", "25", "--batch-size", "3");
    expect(out).toContain(`Stopped, because 25 ${after} 26 was read.`);
    expect((await run("--max-refused", "26")).out).not.toContain("Stopped");
  });

  it("shows in the list of imports that it stopped", async ({ expect }) => {
    const { out } = await runAdmin(["orders", "imports"], { ADMIN_URL: service.url.href, ADMIN_TOKEN });
    expect(out).toContain("25, stopped");
  });
});

describe("an import that moves orders backwards", () => {
  it("says how many", async ({ expect }) => {
    await importText('{"id":820,"status":"shipped"}\n{"id":821,"status":"delivered"}\n{"id":822}');
    const again = '{"id":820,"status":"pending"}\n{"id":821}\n{"id":822,"status":"shipped"}';
    const { code, out } = await importText(again);
    expect([code, out]).toEqual([0, expect.stringMatching(/^backwards +1 of the updated: /m)]);
  });
});

describe("an import of an order that a client has cancelled", () => {
  it("leaves it cancelled and says so, or inserts it with --restore-cancelled", async ({ expect }) => {
    const file = '{"id":830}\n{"id":831}';
    await importText(file);
    const { body } = await service.admin("POST", "/keys", { name: "cancels", plan: "free" });
    const cancelled = await service.call(body.key as string, "/v1/store/orders/830", { method: "DELETE" }); // as created
    expect(cancelled.status).toBe(204);
    for (const options of [["--dry-run"], []]) {
      const { code, out } = await importText(file, ...options);
      expect([code, out]).toEqual([0, expect.stringMatching(/^inserted +0$/m)]);
      expect(out).toMatch(/^cancelled +1 that were cancelled before, and are left so; /m);
    }
    const { code, out } = await importText(file, "--restore-cancelled");
    expect([code, out]).toEqual([0, expect.stringMatching(/^inserted +1$/m)]);
    expect(out).toMatch(/^reinserted +1 of the inserted: clients had cancelled them$/m);
    expect(out).not.toMatch(/^cancelled/m);
  });
});

describe("a path", () => {
  it("is relative to the folder where the command was typed", async ({ expect }) => {
    const typedIn = join(folder, "typed");
    mkdirSync(typedIn);
    writeFileSync(join(typedIn, "orders.json"), '[{"id":1}]');
    const { code } = await importFile("orders.json", { npm_lifecycle_event: "admin", INIT_CWD: typedIn });
    expect(code).toBe(0);
  });
});

describe("an import that is repeated, and fails again", () => {
  it("counts the orders that were stored before among those that are stored", async ({ expect }) => {
    // Stores the first request, and refuses the second one.
    const server = createServer((request, response) => {
      if (!request.url?.includes("from=0&")) return void response.writeHead(401).end("{}");
      const counts = { inserted: 1, updated: 2, unchanged: 4, refusedCount: 0, refused: [] };
      response.end(JSON.stringify({ import: "imp_1", ...counts }));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const args = ["orders", "import", "-", "--batch-size", "7"];
    const input = Array.from({ length: 8 }, (_, i) => `{"id":${i}}`).join("\n");
    const env = { ADMIN_URL: `http://127.0.0.1:${port}`, ADMIN_TOKEN };
    const { code, err } = await runAdmin(args, env, { input });
    server.close();
    server.closeAllConnections();
    expect([code, err]).toEqual([1, expect.stringContaining(" 7 orders were stored before. ")]);
  });
});
