/** What `npm start` checks before it starts anything. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { freePortFrom, requireToken } from "../../../src/tools/start-checks.ts";
import { temporaryFolder } from "../../support/cli.ts";

const folder = temporaryFolder();
const TOKEN = "4d7a6fce29a767321d791688aedca0ed41aca8fb";

describe("ADMIN_TOKEN in the file of secrets", () => {
  const file = join(folder, "vars");

  it.for([
    [`${TOKEN}$HOME`, "may have no $ before a letter"],
    [`'${TOKEN}$$x'`, "may have no $ before a letter"],
    [`${TOKEN}\\$x`, "may have no $ before a letter"],
    [`"  ${TOKEN}  "`, "needs 32 characters or more, "],
  ])("that wrangler reads in another way is refused: %s", ([text, reason], { expect }) => {
    writeFileSync(file, `ADMIN_TOKEN=${text}\n`);
    expect(() => requireToken(file)).toThrow(`ADMIN_TOKEN in ${file} ${reason}`);
    expect(readFileSync(file, "utf8")).toBe(`ADMIN_TOKEN=${text}\n`);
  });

  it("is accepted with other characters", ({ expect }) => {
    for (const more of ["-_.~+/=", "$1$/$$", "\\x\\"]) {
      writeFileSync(file, `ADMIN_TOKEN=${TOKEN}${more}\n`);
      expect(requireToken(file)).toBe(`${TOKEN}${more}`);
    }
  });
});

describe("the port that a message proposes", () => {
  it("is one that exists, also after the last one", async ({ expect }) => {
    const port = await freePortFrom(65_536);
    expect(port).toBeGreaterThanOrEqual(1_024);
    expect(port).toBeLessThan(65_536);
    expect(await freePortFrom(1)).toBe(port);
  });
});
