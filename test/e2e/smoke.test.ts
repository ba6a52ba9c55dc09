/** `npm run smoke`, against the running service and against servers that are not as they should be. */
import { createServer, request as forward, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, it } from "vitest";
import { ExitCode } from "../../src/cli/io.ts";
import { runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

const smoke = (url: string, options: string[] = [], session?: { interruption: AbortSignal }) =>
  runAdmin(["smoke", "--url", url, ...options], { ADMIN_TOKEN }, session);

const proxies: Server[] = [];
afterAll(() => {
  for (const proxy of proxies) proxy.close();
});

/** The address of a proxy that answers with the status that `statusFor` returns, and forwards the other requests. */
async function proxyTo(statusFor: (line: string) => number | undefined): Promise<string> {
  const proxy = createServer((request, response) => {
    const { method, headers, url = "" } = request;
    const status = statusFor(`${method} ${url}`);
    if (status !== undefined) {
      response.writeHead(status).end("{}");
      return;
    }
    const forwarded = forward(new URL(url, service.url).href, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  proxies.push(proxy);
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo; // it listens on a port
  return `http://127.0.0.1:${port}`;
}

describe("npm run smoke", () => {
  it("passes on a running service, and leaves neither a usable key nor an order", async ({ expect }) => {
    const { code, out, err } = await smoke(service.url.href, ["--json"]);
    expect(err).toBe("");
    expect(code).toBe(0);
    const { ok, steps } = JSON.parse(out);
    expect(ok).toBe(true);
    expect(steps.map(({ step }: { step: string }) => step)).toEqual([
      "health",
      "list without a key",
      "issue a key",
      "list",
      "list, unchanged",
      "import an order",
      "cancel it",
      "cancel it again",
      "revoke the key",
      "list with the revoked key",
    ]);
    expect(out).not.toContain("sok_");
  });

  it("prints a line for each step", async ({ expect }) => {
    const { out } = await smoke(service.url.href);
    expect(out).toMatch(/ok +health +\d+ +D1 and a limiter answer/);
    expect(out).toMatch(/ok +list +\d+ +200, 59 of 60 remaining/);
  });

  it("passes also if the plan's day is shorter than the key's minute", async ({ expect }) => {
    await service.admin("PATCH", "/plans/free", { requestsPerDay: 50 });
    try {
      const { code, out } = await smoke(service.url.href);
      expect(code, out).toBe(0);
    } finally {
      await service.admin("PATCH", "/plans/free", { requestsPerDay: 1_000 });
    }
  });

  it("exits with 1 at the first step that fails", async ({ expect }) => {
    const server = createServer((_, response) => response.end("{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    try {
      const { code, out } = await smoke(`http://127.0.0.1:${port}`, ["--json"]);
      expect(code).toBe(1);
      expect(JSON.parse(out)).toMatchObject({
        ok: false,
        steps: [
          { step: "health", ok: true },
          { step: "list without a key", ok: false, detail: "200, not 401" },
        ],
      });
    } finally {
      server.close();
    }
  });

  it("waits as long as --timeout says, and names an address that cannot be reached", async ({ expect }) => {
    const server = createServer(() => {}); // never answers
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const url = `http://127.0.0.1:${port}`;
    const { out } = await smoke(url, ["--json", "--timeout", "1s"]);
    expect(out).toContain(`${url} did not answer within 1 seconds (--timeout).`);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect((await smoke(url, ["--json"])).out).toContain(
      `${url} cannot be reached. Is it running (npm start)?`,
    );
  });

  it("deletes the order if it cannot cancel it, also after an interruption", async ({ expect }) => {
    const interruption = new AbortController();
    const url = await proxyTo((line) => {
      if (!line.startsWith("DELETE /v1/")) return undefined;
      interruption.abort(new ExitCode(130));
      return 503;
    });
    const { code, out, err } = await smoke(url, ["--json"], { interruption: interruption.signal });
    expect(code).toBe(130);
    const { steps } = JSON.parse(out);
    const [key, order] = [steps[2].detail, steps[5].detail];
    expect(err).toBe(
      `Interrupted: the test cleans up. If no results follow, it may leave key ${key} and ${order} behind; the key expires within 10 minutes.\n`,
    );
    expect(steps.slice(6)).toMatchObject([
      { step: "cancel it", ok: false, detail: "503, not 204" },
      { step: "delete the order", ok: true, detail: expect.stringMatching(/^order -\d+$/) },
      { step: "revoke the key", ok: true },
    ]);
    const { status } = await service.admin("GET", `/orders/${steps[7].detail.replace("order ", "")}`);
    expect(status).toBe(404);
  });

  it("names the order that it can neither cancel nor delete", async ({ expect }) => {
    const url = await proxyTo((line) => (/^DELETE .*\/orders\//.test(line) ? 503 : undefined));
    const { code, out } = await smoke(url);
    expect(code).toBe(1);
    expect(out).toMatch(/FAILED +delete the order +\d+ +order -\d+ may still be pending:/);
    expect(out).toMatch(/ok +revoke the key/);
  });

  it.for([
    { answer: "none, after an interruption", status: 503, isInterrupted: true, ok: false },
    { answer: "an error of the server", status: 503, isInterrupted: false, ok: false },
    { answer: "a refusal", status: 400, isInterrupted: false, ok: true },
  ])("names an order that may appear later: its import got $answer", async (test, { expect }) => {
    const interruption = new AbortController();
    const url = await proxyTo((line) => {
      if (!line.startsWith("POST /admin/orders")) return undefined;
      if (test.isInterrupted) interruption.abort(new ExitCode(130));
      return test.status;
    });
    const { code, out } = await smoke(url, ["--json"], { interruption: interruption.signal });
    expect(code).toBe(test.isInterrupted ? 130 : 1);
    const detail = test.ok
      ? "No order has this id."
      : expect.stringMatching(/^order -\d+ may still appear: /);
    expect(JSON.parse(out).steps.slice(5)).toMatchObject([
      { step: "import an order", ok: false },
      { step: "delete the order", ok: test.ok, detail },
      { step: "revoke the key", ok: true },
    ]);
  });

  it("names no order if it was interrupted before the import", async ({ expect }) => {
    const interruption = new AbortController();
    let lists = 0;
    const url = await proxyTo((line) => {
      if (line.startsWith("GET /v1/") && ++lists === 3) interruption.abort(new ExitCode(130));
      return undefined;
    });
    const { out } = await smoke(url, ["--json"], { interruption: interruption.signal });
    expect(JSON.parse(out).steps.slice(5)).toMatchObject([
      { step: "import an order", ok: false },
      { step: "delete the order", ok: true, detail: "No order has this id." },
      { step: "revoke the key", ok: true },
    ]);
  });

  it("says that a key may be left if it was interrupted while it issued the key", async ({ expect }) => {
    const interruption = new AbortController();
    const url = await proxyTo((line) => {
      if (line.startsWith("POST /admin/keys")) interruption.abort(new ExitCode(130));
      return undefined;
    });
    const { code, err } = await smoke(url, [], { interruption: interruption.signal });
    expect([code, err]).toEqual([
      130,
      'Interrupted: a key named "smoke test" may be left; it expires within 10 minutes.\n',
    ]);
  });

  it("says that a key may be left if the answer to issuing it is lost", async ({ expect }) => {
    const url = await proxyTo((line) => (line.startsWith("POST /admin/keys") ? 502 : undefined));
    const { code, out } = await smoke(url, ["--json"]);
    expect([code, out]).toEqual([
      1,
      expect.stringContaining(
        'If it was issued, a key named \\"smoke test\\" may be left; it expires within 10 minutes.',
      ),
    ]);
  });

  it("names an address that cannot be reached", async ({ expect }) => {
    const { code, out } = await smoke("http://127.0.0.1:1");
    expect(code).toBe(1);
    expect(out).toMatch(/FAILED +health/);
  });
});
