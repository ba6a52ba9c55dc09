/** The command line where nothing is as it should be: servers that are not this one, connections that break, nobody who reads. */
import { spawn, spawnSync } from "node:child_process";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { type Finished, PROJECT, QUICK, runAdmin, temporaryFolder } from "./cli-support.ts";

const folder = temporaryFolder();

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function cli(url: string, args: string[], input?: string): Promise<Finished> {
  return runAdmin(args, { ADMIN_URL: url, ADMIN_TOKEN: "a-token-for-a-server-that-is-none" }, input);
}

describe("a server that is not this service", () => {
  it("is told by its address, also with --json", async ({ expect }) => {
    const url = await serve((_request, response) => response.end("<html>welcome</html>"));
    const err = `error: ${url} does not answer as this service does. Is it the right address?\n`;
    expect(await cli(url, ["keys", "list"])).toEqual({ code: 1, out: "", err });
    expect(await cli(url, ["keys", "list", "--json"])).toEqual({ code: 1, out: "", err });
    const load = await cli(url, ["orders", "import", "-"], '{"id":1}');
    expect([load.code, load.out]).toEqual([1, ""]);
    expect(load.err.endsWith(err)).toBe(true);
  });

  it("is not followed where it redirects to, which would make other requests of these", async ({
    expect,
  }) => {
    const requests: string[] = [];
    const url = await serve((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.writeHead(301, { Location: "/elsewhere" }).end();
    });
    for (const args of [
      ["plans", "set", "pro", "--per-day", "1"],
      ["orders", "import", "-"],
    ]) {
      const { code, out, err } = await cli(url, args, '{"id":1}');
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(/error: The service answered 301: give the address that it redirects to.\n$/);
    }
    expect(requests).toEqual(["PATCH /admin/plans/pro", "POST /admin/orders"]);
  });

  it("that breaks off in the middle of its answer cannot be reached", async ({ expect }) => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "Content-Length": 100 });
      response.write("{", () => response.destroy());
    });
    const { code, out, err } = await cli(url, ["audit"]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(`error: ${url} cannot be reached.`);
  });
});

describe("the command line", () => {
  it("says in one line that a file to import is not there", async ({ expect }) => {
    const missing = join(folder, "missing");
    const { code, out, err } = await cli("http://127.0.0.1:1", ["orders", "import", missing]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^error: .*missing cannot be read: ENOENT[^\n]*\n$/);
  });

  it("ends an import at Ctrl-C, after a last word on how far it came", async ({ expect }) => {
    let asked = () => {};
    const isAsked = new Promise<void>((done) => {
      asked = done;
    });
    const url = await serve(() => asked());
    const child = spawn(process.execPath, ["src/cli/main.ts", "--url", url, "orders", "import", "-"], {
      cwd: PROJECT,
      env: { ...process.env, ...QUICK, ADMIN_TOKEN: "a-token" },
    });
    child.stdin.end('{"id":1}');
    const ended = new Promise<number | null>((done) => child.once("close", done));
    let errors = "";
    child.stderr.on("data", (data: Buffer) => {
      errors += data.toString();
    });
    await isAsked;
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(errors.match(/0 loaded, 0 refused/g)).toHaveLength(2);
  });

  it("takes an empty ADMIN_URL for none", async ({ expect }) => {
    expect((await cli("", ["keys", "list"])).err).not.toContain("no http address");
  });

  it("ends in peace when nobody reads on", ({ expect }) => {
    const program = `"${process.execPath}" src/cli/admin.ts --help; echo "exit $?" >&2`;
    const { stderr } = spawnSync("sh", ["-c", `(${program}) | true`], {
      cwd: PROJECT,
      env: { ...process.env, ...QUICK },
      encoding: "utf8",
    });
    expect(stderr).toBe("exit 0\n");
  });
});
