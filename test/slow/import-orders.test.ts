/** A large import through the command line: 100,000 orders, all of them in the list with every digit. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { runAdmin, temporaryFolder } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, type Service, startService } from "../support/service.ts";

const COUNT = 100_000;
/** Above 2^53, where a number in JavaScript loses its last digit. */
const FIRST_ID = 9_007_199_254_740_993n;

const folder = temporaryFolder();
let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

describe("orders import", () => {
  it(`imports ${COUNT} lines with progress, and the list has every one with all digits`, async ({
    expect,
  }) => {
    const lines = Array.from(
      { length: COUNT },
      (_, i) => `{"id":${FIRST_ID + BigInt(i)},"petId":${i},"quantity":2,"complete":false}`,
    );
    const file = join(folder, "many.ndjson");
    writeFileSync(file, `${lines.join("\n")}\n`);
    const env = { ADMIN_URL: service.url.href, ADMIN_TOKEN };
    const { code, out, err } = await runAdmin(["orders", "import", file], env);
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(`^import +imp_\\S+\\ninserted +${COUNT}\\nupdated +0\\nunchanged +0\\nrefused +0\\n$`),
    );
    expect(err).toMatch(/█+.* 100 % \| 100000 loaded, 0 refused/);
    const { key } = await service.createKey();
    expect(await (await service.call(key, LIST)).text()).toBe(`[${lines.join(",")}]`);
  });
});
