/** Steps that the command line asks about first, and `usage --watch`. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { beforeAll, describe, it } from "vitest";
import { ExitCode } from "../../src/cli/io.ts";
import { type Finished, runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

function cli(args: string[], terminal: { input?: string; isInteractive?: boolean } = {}): Promise<Finished> {
  return runAdmin(args, { ADMIN_URL: service.url.href, ADMIN_TOKEN }, terminal);
}

function typed(input: string, ...args: string[]): Promise<Finished> {
  return cli(args, { input: `${input}\n`, isInteractive: true });
}

async function statusOf(key: string): Promise<number> {
  return (await service.call(key, LIST)).status;
}

describe("a step that cannot be undone, or that changes many keys", () => {
  it("without a terminal needs --yes", async ({ expect }) => {
    for (const line of ["keys revoke key_1", "keys rotate key_1 --grace 0", "plans set pro --per-day 5"]) {
      expect(await runAdmin(line.split(" "), { ADMIN_URL: "http://localhost:1", ADMIN_TOKEN })).toEqual({
        code: 2,
        out: "",
        err: "error: This needs --yes, as there is no terminal on which to ask.\n",
      });
    }
  });

  it("is taken on a terminal only after yes, and the question says what it will do", async ({ expect }) => {
    const { id, key } = await service.createKey();
    const refused = await typed("y", "keys", "revoke", id);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toContain(
      `Key ${id} (test, plan business, never used): its requests are refused from now on, permanently. Type yes to go on: `,
    );
    expect(refused.err).toContain("Nothing was changed.\n");
    const ended = await cli(["keys", "revoke", id], { input: "", isInteractive: true });
    expect(ended.err).toContain("Nothing was changed.\n");
    expect(await statusOf(key)).toBe(200);
    expect((await typed("yes", "keys", "revoke", id)).out).toMatch(/^status +revoked$/m);
    expect(await statusOf(key)).toBe(401);
  });

  it("is a rotation only without grace", async ({ expect }) => {
    const { id, key } = await service.createKey();
    expect((await typed("", "keys", "rotate", id, "--grace", "1h")).code).toBe(0);
    const refused = await typed("no", "keys", "rotate", id, "--grace", "0");
    expect(refused.err).toContain("its current secrets stop working at once.");
    expect(await statusOf(key)).toBe(200);
    expect((await typed("YES", "keys", "rotate", id, "--grace", "0")).code).toBe(0);
    expect(await statusOf(key)).toBe(401);
  });

  it("is a change of a plan, with its old limits and its keys", async ({ expect }) => {
    const { err } = await typed("no", "plans", "set", "free", "--per-minute", "70", "--per-day", "none");
    expect(err).toMatch(/^Plan free, which \d+ keys have: 60 → 70 a minute, 1000 → none a day\. Type yes/);
    expect((await cli(["plans", "list"])).out).toMatch(/^free +60 +1000 /m);
  });

  it("is not taken after Ctrl-C at the question", async ({ expect }) => {
    const { id, key } = await service.createKey();
    const interruption = new AbortController();
    const stdin = new PassThrough();
    const env = { ADMIN_URL: service.url.href, ADMIN_TOKEN };
    const running = runAdmin(["keys", "revoke", id], env, {
      input: stdin,
      isInteractive: true,
      interruption: interruption.signal,
    });
    setTimeout(() => interruption.abort(new ExitCode(130)), 300);
    expect((await running).code).toBe(130);
    expect(await statusOf(key)).toBe(200);
  });

  it("is not taken for a key that does not exist", async ({ expect }) => {
    const { code, err } = await typed("yes", "keys", "revoke", "key_1");
    expect([code, err]).toEqual([1, "error: No key has this id.\n"]);
  });
});

describe("usage --watch", () => {
  it("shows the usage again until it is interrupted, and goes on after a failure", async ({ expect }) => {
    const interruption = new AbortController();
    const total = { keyCount: 0, admitted: 0, refused: 0, refusedWhileBanned: 0, hours: [] };
    const usage = { keys: [], plans: [], next: null, total, complete: true };
    let requests = 0;
    const server = createServer((_request, response) => {
      requests++;
      if (requests === 2) response.writeHead(503).end("{}");
      else response.end(JSON.stringify({ day: `day ${requests}`, ...usage }));
      if (requests === 4) setImmediate(() => interruption.abort(new ExitCode(130)));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    // A server that listens on a port has an address of this type.
    const { port } = server.address() as AddressInfo;
    const { code, out, err } = await runAdmin(
      ["--url", `http://127.0.0.1:${port}`, "usage", "--watch", "1s"],
      { ADMIN_TOKEN: "a-token" },
      { isInteractive: true, interruption: interruption.signal },
    );
    server.close();
    expect(code).toBe(130);
    const shown = (day: number) => `day ${day}: 0 keys, 0 admitted\nNothing to show.\n`;
    expect(out.startsWith(`${shown(1)}\u001b[H\u001b[J${shown(3)}`)).toBe(true);
    expect(err).toBe("error: The service answered 503.\n");
  });
});
