/** `orders import` of files that are no JSON, that hide control characters, or whose orders are refused. */
import { mkdirSync, writeFileSync } from "node:fs";
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

function importText(input: string): Promise<Finished> {
  return runAdmin(["orders", "import", "-"], { ADMIN_URL: service.url.href, ADMIN_TOKEN }, { input });
}

describe("a file that is no JSON is refused as a whole, in one line", () => {
  const json = '{"id":1}\n{"id":2}\n';
  const cases: [string, Buffer, string][] = [
    ["gzip", gzipSync(json), "is compressed with gzip"],
    ["zip", Buffer.from("PK\u0003\u0004..."), "is a ZIP archive or a spreadsheet"],
    ["utf16le", Buffer.from(`\uFEFF${json}`, "utf16le"), "is in UTF-16"],
    ["utf16be", Buffer.from(`\uFEFF${json}`, "utf16le").swap16(), "is in UTF-16"],
    ["utf16", Buffer.from(json, "utf16le"), "is in UTF-16"],
    [
      "csv",
      Buffer.from("id,petId,quantity\n1,2,3\n"),
      'is not JSON but looks like CSV: it begins with "id,petId,quantity"',
    ],
    ["text", Buffer.from("\u001b[31mhello"), 'is not JSON: it begins with "\\u001b[31mhello"'],
  ];
  for (const [name, content, problem] of cases) {
    it(name, async ({ expect }) => {
      const file = join(folder, name);
      writeFileSync(file, content);
      expect(await importFile(file)).toEqual({
        code: 1,
        out: "",
        err: `error: ${file} ${problem}. ${JSON_EXPECTED}\n`,
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

describe("a path", () => {
  it("is relative to the folder where the command was typed", async ({ expect }) => {
    const typedIn = join(folder, "typed");
    mkdirSync(typedIn);
    writeFileSync(join(typedIn, "orders.json"), '[{"id":1}]');
    const { code } = await importFile("orders.json", { npm_lifecycle_event: "admin", INIT_CWD: typedIn });
    expect(code).toBe(0);
  });
});
