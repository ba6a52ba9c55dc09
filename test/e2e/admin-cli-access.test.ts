/** The command line behind Cloudflare Access, or another proxy: which credentials it sends, and what it says about their answers. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, it } from "vitest";
import { runAdmin } from "../support/cli.ts";

let received: IncomingHttpHeaders[] = [];
let login = false;
let isRefused = false;
const server = createServer((request, response) => {
  received.push(request.headers);
  if (isRefused) response.writeHead(403, "Refus\xe9").end();
  else if (login) {
    const page = "https://acme.cloudflareaccess.com/cdn-cgi/access/login/api.example.com?kid=1";
    response.writeHead(302, { Location: page }).end();
  } else response.end('{"plans":[]}');
});
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
});
afterAll(() => server.close());
beforeEach(() => {
  received = [];
  login = false;
  isRefused = false;
});

const list = (env: Record<string, string>) => runAdmin(["plans", "list"], { ADMIN_URL: url, ...env });

describe("behind Cloudflare Access, the command line", () => {
  it("sends a service token, and needs no admin token", async ({ expect }) => {
    const env = { CF_ACCESS_CLIENT_ID: "0123.access", CF_ACCESS_CLIENT_SECRET: "s3cret", ADMIN_TOKEN: "" };
    expect((await list(env)).code).toBe(0);
    expect(received).toMatchObject([
      { "cf-access-client-id": "0123.access", "cf-access-client-secret": "s3cret" },
    ]);
  });

  it("sends a person's token beside the admin token", async ({ expect }) => {
    expect((await list({ CF_ACCESS_TOKEN: "jwt", ADMIN_TOKEN: "t" })).code).toBe(0);
    expect(received).toMatchObject([{ "cf-access-token": "jwt", authorization: "Bearer t" }]);
  });

  it("explains a redirect to the login page, and does not follow it", async ({ expect }) => {
    login = true;
    const { code, err } = await list({ ADMIN_TOKEN: "t" });
    expect(code).toBe(1);
    expect(err).toMatch(/^error: Cloudflare Access asks to sign in\. Set CF_ACCESS_CLIENT_ID and /);
    expect(received).toHaveLength(1);
  });

  it("refuses half a service token, and a value that no header can have", async ({ expect }) => {
    const half = await list({ CF_ACCESS_CLIENT_ID: "0123.access", ADMIN_TOKEN: "t" });
    expect(half).toMatchObject({ code: 1, err: expect.stringContaining("CF_ACCESS_CLIENT_SECRET") });
    const wrong = await list({ CF_ACCESS_TOKEN: "a b", ADMIN_TOKEN: "t" });
    expect(wrong.err).toBe("error: CF_ACCESS_TOKEN has characters that a token cannot have.\n");
    expect(received).toEqual([]);
  });
});

it("behind another proxy, the command line says that it refused, whatever its status text", async ({
  expect,
}) => {
  isRefused = true;
  const disabled = await runAdmin(["keys", "disable", "key_1"], { ADMIN_URL: url, ADMIN_TOKEN: "t" });
  expect(disabled).toMatchObject({ code: 1, err: "error: The service answered 403.\n" });
});
