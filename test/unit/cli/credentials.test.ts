/** The admin token of the local instance. test/e2e/admin-cli-access.test.ts has the other credentials. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { AdminFailure } from "../../../src/cli/admin-client.ts";
import { credentialsFor } from "../../../src/cli/credentials.ts";

const folder = mkdtempSync(join(tmpdir(), "store-orders-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, "vars");
const token = "0123456789abcdefghijklmnopqrstuvwxyz";
const read = (env = {}) => credentialsFor("http://localhost:1", file, env);

describe("the token of the local instance", () => {
  it("is the one in the file, unless the environment has one", ({ expect }) => {
    writeFileSync(file, `ADMIN_TOKEN=${token}\n`);
    expect(read().token).toBe(token);
    expect(read({ ADMIN_TOKEN: "another" }).token).toBe("another");
    expect(() => credentialsFor("https://orders.example", undefined, {})).toThrow(
      "There is no admin token for https://orders.example: set ADMIN_TOKEN.",
    );
  });

  it("is asked for if the file cannot be read", ({ expect }) => {
    const local = (env = {}) => credentialsFor("http://localhost:1", folder, env);
    expect(() => local()).toThrow(AdminFailure);
    expect(() => local()).toThrow(
      /^The file of secrets .* cannot be read: EISDIR.*\. Set ADMIN_TOKEN instead\.$/,
    );
    expect(local({ ADMIN_TOKEN: token }).token).toBe(token);
  });

  it("is refused, and not repeated, if no header can have it", ({ expect }) => {
    const message = `ADMIN_TOKEN in ${file} has characters that a token cannot have.`;
    for (const value of [`"${token}\n${token}"`, `${token}é`, `"${token} "`, `"${token}\\n"`]) {
      writeFileSync(file, `ADMIN_TOKEN=${value}\n`);
      expect(() => read(), value).toThrow(new AdminFailure(message));
    }
  });
});
