/** The file of secrets of the local instance: how ADMIN_TOKEN is read from it and added to it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { readAdminToken } from "../../../src/local/token.ts";
import { temporaryFolder } from "../../support/cli.ts";

const folder = temporaryFolder();

describe("the file of secrets", () => {
  it("is read as wrangler reads it", ({ expect }) => {
    const token = "0123456789abcdefghijklmnopqrstuvwxyz";
    const file = join(folder, "forms");
    for (const line of [
      `ADMIN_TOKEN=${token} # mine`,
      `export ADMIN_TOKEN='${token}'`,
      `ADMIN_TOKEN = "${token}"\r\nOTHER=x`,
    ]) {
      writeFileSync(file, `# secrets\n${line}\n`);
      expect(readAdminToken(file), line).toBe(token);
    }
    writeFileSync(file, "ADMIN_TOKEN=\n");
    expect(readAdminToken(file)).toBeUndefined();
    expect(readAdminToken(join(folder, "missing"))).toBeUndefined();
  });
});
