/** The admin token in `.dev.vars`: whatever starts is what the file says. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { ensureLocalToken, readAdminToken } from "../../../src/local/token.ts";
import { temporaryFolder } from "../../support/cli.ts";

const file = join(temporaryFolder(), "vars");
const LETTERS = "x".repeat(32);

describe("a token in the file", () => {
  it.for([
    `ADMIN_TOKEN=${LETTERS}`,
    `export ADMIN_TOKEN = "${LETTERS}" # mine`,
    `OTHER='a$b'\r\nADMIN_TOKEN='${LETTERS}'\r\n`,
  ])("is taken: %j", (text, { expect }) => {
    writeFileSync(file, text);
    expect(ensureLocalToken(file)).toBe(LETTERS);
  });

  it.for([
    ["UTF-8", "utf8"],
    ["UTF-16", "utf16le"],
  ] as const)("is taken from a file of %s that begins with a BOM", ([, encoding], { expect }) => {
    writeFileSync(file, `\uFEFFADMIN_TOKEN=${LETTERS}\r\nOTHER=ä\r\n`, encoding);
    expect(readAdminToken(file)).toBe(LETTERS);
    expect(ensureLocalToken(file)).toBe(LETTERS);
    // wrangler reads the file too.
    expect(readFileSync(file, "utf8")).toBe(`ADMIN_TOKEN=${LETTERS}\r\nOTHER=ä\r\n`);
  });

  it.for(["$x", "\\$x", "#x", '"', "'", "`", "\\n", " x", "ë"])(
    "is refused with the reason, as %j would be something else for the service",
    (part, { expect }) => {
      for (const name of ["ADMIN_TOKEN", "ADMIN_READ_TOKEN"])
        for (const quote of ["", "'", '"']) {
          writeFileSync(
            file,
            `ADMIN_TOKEN=${LETTERS}\n${name}=${quote}${LETTERS}${part}${LETTERS}${quote}\n`,
          );
          expect(() => ensureLocalToken(file)).toThrow("do not stand for themselves");
        }
    },
  );
});
