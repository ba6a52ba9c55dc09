/** `./store-orders` as a process: its options, its Node and its folder are the right ones. */
import { symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { PROJECT, runProcess, temporaryFolder } from "../support/cli.ts";

const server = createServer((request, response) => {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(
    JSON.stringify({ plans: [], keys: [], next: null, says: "pro is changed.", requested: request.url }),
  );
});

beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

function storeOrders(args: readonly string[], command = "./store-orders", cwd = PROJECT) {
  const { port } = server.address() as AddressInfo; // it listens on a port
  const env = { ADMIN_URL: `http://127.0.0.1:${port}`, ADMIN_TOKEN: "a-token" };
  return runProcess(command, args, env, { cwd });
}

describe("./store-orders", () => {
  it("gets every option as it was typed, also those that npm has", async ({ expect }) => {
    const listed = await storeOrders([
      "keys",
      "list",
      "--json",
      "--limit=5",
      "--plan",
      "pro",
      "--search",
      "a b",
    ]);
    expect(JSON.parse(listed.out).requested).toBe("/admin/keys?plan=pro&search=a+b&limit=5");
    expect((await storeOrders(["plans", "set", "pro", "--per-day", "5", "--yes"])).code).toBe(0);
    expect((await storeOrders(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await storeOrders(["keys", "rotate"])).code).toBe(2);
  });

  it("works from another folder, also by a link", async ({ expect }) => {
    const { code, out } = await storeOrders(["keys", "--help"], "../store-orders", join(PROJECT, "docs"));
    expect([code, out]).toEqual([0, expect.stringContaining("Usage: store-orders keys")]);
    const link = join(temporaryFolder(), "so");
    symlinkSync(join(PROJECT, "store-orders"), link);
    expect((await storeOrders(["--version"], link, "/")).code).toBe(0);
  });

  it("ends without an error when its reader has closed the pipe", async ({ expect }) => {
    const program = `"${process.execPath}" ./store-orders --help; echo "exit $?" >&2`;
    const { err } = await runProcess("sh", ["-c", `(${program}) | true`]);
    expect(err).toBe("exit 0\n");
  });

  it("runs with the Node that npm ci installed, if the one that starts it cannot run TypeScript", async ({
    expect,
  }) => {
    const program = ["--no-experimental-strip-types", "./store-orders"];
    const { code, out, err } = await runProcess(process.execPath, [...program, "keys", "rotate", "--help"]);
    expect([code, out, err]).toEqual([0, expect.stringContaining("Usage: store-orders keys rotate"), ""]);
    expect((await runProcess(process.execPath, [...program, "keys", "rotate", "key_1"])).code).toBe(2);
  });
});
