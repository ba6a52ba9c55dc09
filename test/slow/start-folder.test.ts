/** `npm start` when another service has the port or the state folder, and after it was killed. */
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, it } from "vitest";
import { PROJECT, runProcess } from "../support/cli.ts";
import {
  freePort,
  type Instance,
  interrupt,
  isRunning,
  processTreeOf,
  startsOf,
  untilEnded,
} from "../support/start.ts";

const { folder, varsFile, spawnStart, start, startToEnd } = startsOf("a-token-for-the-local-instance-only");

/** The arguments of the command that a message advises. */
function advisedIn(message: string): string[] {
  return /npm start -- (.+)$/.exec(message.trim())?.[1]?.split(" ") ?? [];
}

/** The workerd that has the service's port, and the one that runs the Worker. */
function runtimesOf({ child, port }: Instance): { listener: number; other: number } {
  const runtimes = processTreeOf(child).map((pid) => {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return { pid, address: /--socket-addr=entry=([\d.:]+)/.exec(command)?.[1] };
  });
  const [listener = 0] = runtimes
    .filter(({ address }) => address === `127.0.0.1:${port}`)
    .map(({ pid }) => pid);
  const [other = 0] = runtimes
    .filter(({ pid, address }) => address && pid !== listener)
    .map(({ pid }) => pid);
  return { listener, other };
}

describe("npm start while another service runs", () => {
  let first: Instance;

  beforeAll(async () => {
    first = await start({ port: await freePort(), state: join(folder, "first") });
  });
  afterAll(() => interrupt(first.child));

  it("names the process that has the state folder, and advises a command that works", async ({ expect }) => {
    const { code, out, err } = await startToEnd(first);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(
      `The state folder ${first.state} is in use by process ${first.child.pid}, at http://localhost:${first.port}. Stop that process (kill ${first.child.pid}), or start a second service with data of its own: npm start -- --port `,
    );
    const second = await start({ port: 0, state: "" }, advisedIn(err));
    expect(second.output()).toContain("The demo keys, shown only now:");
    expect(await interrupt(second.child)).toBe(0);
  });

  it("advises a port that is free, if another program has the port", async ({ expect }) => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((done) => server.once("listening", done));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const state = join(folder, "second");
    const { code, out, err } = await startToEnd({ port, state });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(`Port ${port} is taken by another program. Choose another: npm start -- --port `);
    const [, advised, ...rest] = advisedIn(err);
    expect(Number(advised)).toBeGreaterThan(port);
    expect(rest).toEqual(["--persist-to", state, "--vars-file", varsFile]);
    await new Promise((done) => server.close(done));
  });

  it("ends with an error when the runtime that listens has ended, as it cannot go on", async ({ expect }) => {
    const processes = processTreeOf(first.child);
    process.kill(runtimesOf(first).listener, "SIGKILL");
    const [code] = await once(first.child, "exit");
    expect(code).toBe(1);
    expect(first.errors()).toContain("The runtime (workerd) has ended unexpectedly: SIGKILL.");
    await untilEnded(processes);
  });
});

describe("npm start whose runtime that runs the Worker has ended", () => {
  it("goes on if that can be started again, and otherwise ends with an error", async ({ expect }) => {
    const program = join(folder, "workerd");
    const [workerd] = globSync(join(PROJECT, "node_modules/@cloudflare/workerd-*/bin/workerd"));
    const isBroken = join(folder, "broken");
    writeFileSync(program, `#!/bin/sh\n[ -e ${isBroken} ] && exit 1\nexec ${workerd} "$@"\n`, {
      mode: 0o755,
    });
    const env = { ...process.env, MINIFLARE_WORKERD_PATH: program };
    const instance = await start({ port: await freePort(), state: join(folder, "crashed") }, undefined, env);
    const processes = processTreeOf(instance.child);

    process.kill(runtimesOf(instance).other, "SIGKILL");
    while (!instance.output().includes("HEAD /openapi.json 200")) await setTimeout(20);
    expect((await fetch(`http://localhost:${instance.port}/health`)).status).toBe(200);

    writeFileSync(isBroken, "");
    process.kill(runtimesOf(instance).other, "SIGKILL");
    const [code] = await once(instance.child, "exit");
    expect(code).toBe(1);
    expect(instance.errors()).toContain("The runtime (workerd) has ended unexpectedly: exit code 1.");
    await untilEnded(processes);
  });
});

describe("npm start that cannot run the service", () => {
  it("sends the token to no program that takes the port during the start", async ({ expect }) => {
    const starting = spawnStart({ port: await freePort(), state: join(folder, "late") });
    while (processTreeOf(starting.child).length < 2) await setTimeout(20); // the migrations, after the port was checked
    const received: string[] = [];
    const server = createHttpServer(({ headers }, response) => {
      received.push(headers.authorization ?? "");
      response.end("{}");
    }).listen(starting.port, "127.0.0.1");
    const [code] = await once(starting.child, "exit");
    server.close();
    expect([code, starting.output(), received]).toEqual([1, "", []]);
    expect(starting.errors()).toContain(`Address already in use (127.0.0.1:${starting.port})`);
  });

  it("stops as by a signal when the reader of its output has ended", async ({ expect }) => {
    const starting = spawnStart({ port: await freePort(), state: join(folder, "unread") });
    starting.child.stdout?.destroy();
    while (processTreeOf(starting.child).length < 2) await setTimeout(20);
    const processes = processTreeOf(starting.child);
    const [code] = await once(starting.child, "exit");
    expect([code, starting.errors()]).toEqual([0, ""]);
    await untilEnded(processes);
  });

  it("says so if its output cannot be written", async ({ expect }) => {
    const options = ["--port", String(await freePort()), "--persist-to", join(folder, "full")];
    const args = [process.execPath, "src/tools/start.ts", ...options, "--vars-file", varsFile];
    const { code, err } = await runProcess("sh", ["-c", '"$0" "$@" > /dev/full', ...args]);
    expect(code).toBe(1);
    expect(err).toContain("\nThe output cannot be written: ENOSPC: no space left on device, write\n");
  });

  it("names the folder that wrangler cannot make", async ({ expect }) => {
    const env = { ...process.env, HOME: varsFile, XDG_CONFIG_HOME: "" };
    const starting = spawnStart({ port: await freePort(), state: join(folder, "homeless") }, undefined, env);
    const [code] = await once(starting.child, "exit");
    expect(code).toBe(1);
    expect(starting.errors()).toMatch(/^The service did not start\.$/m);
    expect(starting.errors()).toMatch(/^ENOTDIR: not a directory, mkdir /m);
  });
});

describe("npm start that is killed by SIGKILL", () => {
  it("ends with all processes that it started, and the next start has its data and port", async ({
    expect,
  }) => {
    const killed = await start({ port: await freePort(), state: join(folder, "killed") });
    const processes = processTreeOf(killed.child);
    killed.child.kill("SIGKILL");
    await untilEnded(processes);
    const next = await start(killed);
    expect(next.output()).toContain("The data of the last run is kept.");
    expect(await interrupt(next.child)).toBe(0);
  });

  it("together with wrangler: the next start names what still runs, and how to end it", async ({
    expect,
  }) => {
    const killed = await start({ port: await freePort(), state: join(folder, "orphans") });
    const processes = processTreeOf(killed.child);
    // `npm start` and wrangler: workerd then has no parent that ends it. Stopped first, as wrangler ends workerd when `npm start` has ended.
    const parents = processes.slice(0, 2);
    for (const signal of ["SIGSTOP", "SIGKILL"]) for (const pid of parents) process.kill(pid, signal);
    await untilEnded(parents);
    expect(processes.some(isRunning)).toBe(true);
    const { code, err } = await startToEnd(killed);
    expect(code).toBe(1);
    expect(err).toContain(
      `An earlier npm start was killed, and processes that it started still use the state folder ${killed.state}. Stop them: kill -9 -`,
    );
    await runProcess("sh", ["-c", /Stop them: (.+)$/.exec(err.trim())?.[1] ?? ""]);
    await untilEnded(processes);
  });
});

describe("npm start in a clone", () => {
  const clone = join(folder, "clone");
  mkdirSync(join(clone, "src"), { recursive: true });
  cpSync(join(PROJECT, "src/tools"), join(clone, "src/tools"), { recursive: true });
  cpSync(join(PROJECT, "package.json"), join(clone, "package.json"));

  it("without npm ci says so in one sentence", async ({ expect }) => {
    const { code, out, err } = await runProcess("npm", ["run", "-s", "start"], {}, { cwd: clone });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^(npm warn .*\n)*\nThe project's packages are not installed. Run this once: npm ci --include=dev\n\n$/,
    );
  });
});
