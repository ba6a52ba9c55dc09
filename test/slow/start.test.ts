/** `npm start` with several instances, on data of an earlier run, on a broken database, and interrupted at any time. */
import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { type Finished, runAdmin } from "../support/cli.ts";
import {
  demoKeysIn,
  freePort,
  type Instance,
  interrupt,
  isRunning,
  processTreeOf,
  startsOf,
} from "../support/start.ts";

const TOKEN = "a-token-for-the-local-instance-only";
const { folder, spawnStart, start, startToEnd } = startsOf(TOKEN);

async function list({ port }: Instance, key = ""): Promise<{ status: number; orders: unknown }> {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`http://localhost:${port}/v1/store/orders`, { headers });
  return { status: response.status, orders: await response.json() };
}

function admin({ port }: Instance, ...args: string[]): Promise<Finished> {
  return runAdmin(["--url", `http://localhost:${port}`, ...args], { ADMIN_TOKEN: TOKEN });
}

describe("npm start with two instances", () => {
  let first: Instance;
  let second: Instance;

  beforeAll(async () => {
    const options = [
      { port: await freePort(), state: join(folder, "first") },
      { port: await freePort(), state: join(folder, "second") },
    ] as const;
    [first, second] = await Promise.all([start(options[0]), start(options[1])]);
  });

  it("keeps their data apart", async ({ expect }) => {
    const [key] = demoKeysIn(first.output());
    const [other] = demoKeysIn(second.output());
    expect(other).not.toBe(key);
    expect([await list(first, key), await list(second, other)]).toMatchObject([
      { status: 200 },
      { status: 200 },
    ]);
    expect([await list(first, other), await list(second, key)]).toMatchObject([
      { status: 401 },
      { status: 401 },
    ]);
    expect(first.output() + second.output()).not.toContain(TOKEN);
  });

  it("stops one of them at Ctrl-C, with all its processes, and leaves the other running", async ({
    expect,
  }) => {
    const processes = processTreeOf(second.child);
    expect(processes.length).toBeGreaterThan(2);
    expect(await interrupt(second.child)).toBe(0);
    expect(processes.filter(isRunning)).toEqual([]);
    await expect(fetch(`http://localhost:${second.port}/`)).rejects.toThrow();
    expect((await list(first, demoKeysIn(first.output())[0])).status).toBe(200);
  });

  it("keeps the data for the next start, which prints no keys but how to create one", async ({ expect }) => {
    const [key] = demoKeysIn(second.output());
    const again = await start(second);
    expect(again.output()).not.toContain("sok_");
    expect(again.output()).toContain(
      `npm run -s admin -- --url http://localhost:${again.port} keys create --name mine --plan free`,
    );
    expect((await list(again, key)).orders).toHaveLength(250);
    // In brackets where an operator has set the vars of Access.
    expect((await admin(again, "audit", "--limit", "500")).out).toMatch(/npm start\)? +keys.create/);
    expect((await admin(again, "keys", "list")).out.match(/^key_/gm)).toHaveLength(4);
    await interrupt(again.child);
  });

  it("reports a broken database, and how to start with a new one", async ({ expect }) => {
    const [database = ""] = globSync(join(second.state, "v3/d1/**/*.sqlite")).filter(
      (file) => !file.endsWith("metadata.sqlite"),
    );
    for (const file of globSync(`${database}*`)) writeFileSync(file, "this is not a database".repeat(500));
    const { code, out, err } = await startToEnd(second);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(
      `The database in ${second.state} could not be migrated. To start with a new one, move the folder away.`,
    );
    expect(err).toMatch(/not a database|malformed|NOTADB/i);
  });
});

describe("Ctrl-C before npm start is ready", () => {
  it("stops everything that was started so far", async ({ expect }) => {
    const { child } = spawnStart({ port: await freePort(), state: join(folder, "interrupted") });
    let processes: number[] = [];
    for (const deadlineMs = Date.now() + 10_000; processes.length < 2 && Date.now() < deadlineMs; ) {
      await pause(20);
      processes = processTreeOf(child);
    }
    expect(processes.length).toBeGreaterThan(1);
    expect(await interrupt(child)).toBe(0);
    expect(processes.filter(isRunning)).toEqual([]);
  });

  it("prints no error while the demo data is loaded", async ({ expect }) => {
    const starting = spawnStart({ port: await freePort(), state: join(folder, "loading") });
    const url = `http://localhost:${starting.port}/admin/plans`;
    const isUp = () =>
      fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } }).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await isUp())) await pause(5);
    expect([await interrupt(starting.child), starting.errors()]).toEqual([0, ""]);
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
