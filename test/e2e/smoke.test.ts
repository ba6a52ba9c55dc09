/** `store-orders smoke`, against the running service and with answers that are not as they should be. */
import { afterEach, beforeEach, describe, it } from "vitest";
import { runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, openService, type Service } from "../support/service.ts";

type Step = { readonly step: string; readonly ok: boolean; readonly detail: string };

let service: Service;
const { fetch } = globalThis;

beforeEach(async () => {
  service = await openService();
});
afterEach(() => {
  globalThis.fetch = fetch;
});

function smoke(...options: string[]) {
  return runAdmin(["smoke", "--url", service.url.href, ...options], { ADMIN_TOKEN });
}

/** Requests whose `METHOD /path` matches get this status from another server; the others arrive. */
function answerInstead(pattern: RegExp, status: number): void {
  globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    const isMet = pattern.test(`${request.method} ${new URL(request.url).pathname}`);
    return isMet ? Promise.resolve(new Response("", { status })) : fetch(request);
  };
}

async function failedSteps(): Promise<Step[]> {
  const { code, out, err } = await smoke("--json");
  if (code !== 1 || !err.includes("The smoke test failed.")) throw new Error(`exit code ${code}: ${err}`);
  return JSON.parse(out);
}

describe("store-orders smoke", () => {
  it("passes on a running service, and leaves neither a usable key nor an order", async ({ expect }) => {
    const { code, out, err } = await smoke();
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^ok +list +\d+ +59 of 60 remaining$/m);
    const steps = [...out.matchAll(/^ok +(\D+?) +\d+ /gm)].map(([, step]) => step);
    expect(steps).toEqual([
      "health",
      "list without a key",
      "create a key",
      "list",
      "load an order",
      "cancel it",
      "cancel it again",
      "revoke the key",
      "list with the revoked key",
    ]);
    expect(out).not.toContain("sok_");
    expect((await service.admin("GET", "/orders?limit=1")).text).toContain('"orders":[]');
  });

  it("ends at the first step that fails", async ({ expect }) => {
    answerInstead(/^GET \/v1/, 200);
    expect(await failedSteps()).toMatchObject([
      { step: "health", ok: true },
      { step: "list without a key", ok: false, detail: "200, not 401" },
    ]);
  });

  it("deletes the order that it cannot cancel, and revokes the key", async ({ expect }) => {
    answerInstead(/^DELETE \/v1/, 503);
    expect((await failedSteps()).slice(5)).toMatchObject([
      { step: "cancel it", ok: false, detail: "503, not 204" },
      { step: "delete the order", ok: true, detail: expect.stringMatching(/^order -\d+$/) },
      { step: "revoke the key", ok: true },
    ]);
  });

  it("names the order that it can neither cancel nor delete", async ({ expect }) => {
    answerInstead(/^DELETE .*\/orders\//, 503);
    const [, left] = (await failedSteps()).slice(5);
    expect(left).toMatchObject({ step: "delete the order", ok: false });
    expect(left?.detail).toMatch(/^order -\d+ may be left: The service answered 503\. /);
  });
});
