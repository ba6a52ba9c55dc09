/** The built Worker in a workerd where the operators' module is broken: whoever needs no operators, notices nothing. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { builtModules } from "../support/worker-modules.ts";
import { startWorkerd, type Workerd } from "../support/workerd.ts";

let service: Workerd;
const lines: string[] = [];

beforeAll(async () => {
  const modules = (await builtModules()).map((each) =>
    each.path.startsWith("operators-")
      ? { ...each, contents: 'throw new Error("operators were loaded")' }
      : each,
  );
  service = await startWorkerd({ modules, onLog: (line) => lines.push(line) });
});
afterAll(() => service.close());

describe("an isolate that serves clients", () => {
  it.for([
    ["/v1/store/orders", 200],
    ["/v1/store/orders", 429],
    ["/v1/none", 401],
    ["/openapi.json", 200],
    ["/health", 200],
    ["/nothing", 404],
  ] as const)("loads nothing that only operators need: %s is %i", async ([path, status], { expect }) => {
    const { key } = await service.createKey({ plan: "enterprise", perMinute: 1, perDay: 1 });
    const headers = status === 401 || path === "/health" ? {} : { Authorization: `Bearer ${key}` };
    const ask = () => fetch(new URL(path, service.url), { headers });
    if (status === 429) await ask();
    expect((await ask()).status).toBe(status);
    expect(lines.join()).not.toContain("operators were loaded");
  });

  it("loads it for an operator", async ({ expect }) => {
    const headers = { Authorization: `Bearer ${service.adminToken}` };
    expect((await fetch(new URL("/admin/plans", service.url), { headers })).status).toBe(500);
    expect(lines.join()).toContain("operators were loaded");
  });
});
