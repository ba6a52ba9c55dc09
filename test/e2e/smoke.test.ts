/** `npm run smoke`, against the running service and against servers that are not as they should be. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, it } from "vitest";
import { runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, openService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await openService();
});

const smoke = (url: string, ...options: string[]) =>
  runAdmin(["smoke", "--url", url, ...options], { ADMIN_TOKEN });

describe("npm run smoke", () => {
  it("passes on a running service, and leaves neither a usable key nor an order", async ({ expect }) => {
    const { code, out, err } = await smoke(service.url.href, "--json");
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

  it("exits with 1 at the first step that fails", async ({ expect }) => {
    const server = createServer((_, response) => response.end("{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    try {
      const { code, out } = await smoke(`http://127.0.0.1:${port}`, "--json");
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

  it("names an address that cannot be reached", async ({ expect }) => {
    const { code, out } = await smoke("http://127.0.0.1:1");
    expect(code).toBe(1);
    expect(out).toMatch(/FAILED +health/);
  });
});
