/** `npm start` on an empty folder: what it prints, how it stops, and what it refuses. start.test.ts has the longer runs. */
import { execFileSync, type SpawnOptions } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { runProgram } from "../support/cli.ts";
import {
  freePort,
  hasIpv6,
  type Instance,
  interrupt,
  isRunning,
  processTreeOf,
  startsOf,
} from "../support/start.ts";

const TOKEN = "a-token-for-the-local-instance-only";
const { folder, varsFile, start, startToEnd } = startsOf(TOKEN);

describe("npm start", () => {
  let instance: Instance;

  beforeAll(async () => {
    instance = await start({ port: await freePort(), state: join(folder, "state") });
  });

  it("prints a key for each plan, with its limits", ({ expect }) => {
    const lines = instance.output().match(/^ {2}demo .*$/gm) ?? [];
    expect(lines.map((line) => line.replace(/ +sok_\w{38} +/, ": "))).toEqual([
      "  demo free: 60 a minute, 1000 a day",
      "  demo pro: 300 a minute, 10000 a day",
      "  demo business: 1000 a minute, 100000 a day",
      "  demo enterprise: 5000 a minute, 1000000 a day",
    ]);
  });

  it("prints a curl line that lists the 250 orders when it is pasted", ({ expect }) => {
    const line = /^ +(curl .*)$/m.exec(instance.output())?.[1] ?? "";
    const answer = execFileSync("sh", ["-c", `${line} --silent`], { encoding: "utf8" });
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(head).toMatch(/^x-ratelimit-remaining: \d+\r?$/im);
    expect(JSON.parse(body)).toHaveLength(250);
  });

  it("loads orders in every status", async ({ expect }) => {
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async (_, i) => {
        const order = await fetch(`http://localhost:${instance.port}/admin/orders/${10 * i + 1}`, {
          headers,
        });
        return JSON.parse(await order.text()).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set(["pending", "processing", "shipped", "delivered"]));
  });

  it("does not print the admin token, and does not change the file that has it", ({ expect }) => {
    expect(readFileSync(varsFile, "utf8")).toBe(`ADMIN_TOKEN=${TOKEN}\n`);
    expect(instance.output() + instance.errors()).not.toContain(TOKEN);
  });

  it("does not serve wrangler's Local Explorer, which reads and changes D1 without a token", async ({
    expect,
  }) => {
    for (const path of ["/cdn-cgi/explorer", "/cdn-cgi/explorer/api/d1/database", "/cdn-cgi/explorer/api"]) {
      const response = await fetch(`http://localhost:${instance.port}${path}`);
      expect([response.status, await response.json()], path).toEqual([
        404,
        { code: "not_found", message: "The requested resource could not be found.", status: 404 },
      ]);
    }
  });

  it("opens no port for debugging, through which the memory of the Worker has the admin token", ({
    expect,
  }) => {
    const commands = processTreeOf(instance.child).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    expect(commands.filter((command) => command.includes("workerd")).length).toBeGreaterThan(0);
    expect(commands.join(" ")).not.toMatch(/--inspector-addr|--debug-port/);
  });

  it.runIf(hasIpv6())(
    "has the port of ::1 too, where a browser looks for localhost first",
    async ({ expect }) => {
      expect((await fetch(`http://[::1]:${instance.port}/health`)).status).toBe(200);
    },
  );

  it("keeps no traces, and its files can be read by their owner only", ({ expect }) => {
    expect(existsSync(join(instance.state, "v3/d1"))).toBe(true);
    expect(existsSync(join(instance.state, "v3/observability"))).toBe(false);
    expect([instance.state, join(instance.state, "v3"), varsFile].map(modeOf)).toEqual([0o700, 0o700, 0o600]);
  });

  it("stops at Ctrl-C with exit code 0, and all processes that it started with it", async ({ expect }) => {
    const processes = processTreeOf(instance.child);
    expect(processes.length).toBeGreaterThan(2);
    expect(await interrupt(instance.child)).toBe(0);
    expect(processes.filter(isRunning)).toEqual([]);
    await expect(fetch(`http://localhost:${instance.port}/`)).rejects.toThrow();
  });
});

describe("npm start refuses", () => {
  it("a state folder that is a file", async ({ expect }) => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const { code, out, err } = await startToEnd({ port: await freePort(), state: file });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(`The state folder ${file} cannot be used: ENOTDIR`);
  });

  it.runIf(process.platform === "linux")("a state folder that cannot be made", async ({ expect }) => {
    const { code, err } = await startToEnd({ port: await freePort(), state: "/proc/nothing/state" });
    expect(code).toBe(1);
    expect(err).toContain("The state folder /proc/nothing/state cannot be used: ENOENT");
  });

  it("a state folder that cannot be used, in one sentence", async ({ expect }) => {
    const state = join(folder, "jammed");
    mkdirSync(join(state, "lock"), { recursive: true });
    const { code, out, err } = await startToEnd({ port: await freePort(), state });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^\nThe state folder \S+ cannot be used: [^\n]+\n\n$/);
  });

  it("a state folder in which a file of an earlier run cannot be written", async ({ expect }) => {
    const state = join(folder, "read-only");
    mkdirSync(join(state, "v3"), { recursive: true });
    writeFileSync(join(state, "v3/data.sqlite"), "", { mode: 0o444 });
    for (const path of [folder, state, join(state, "v3")]) chmodSync(path, 0o777);
    const own = asOtherUser(join(state, "v3"));
    const { code, out, err } = await startToEnd({ port: await freePort(), state }, own);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^\nThe state folder \S+ cannot be used: EACCES[^\n]+data.sqlite'\n\n$/);
  });

  it("a folder for temporary files that does not exist", async ({ expect }) => {
    const args = ["--port", String(await freePort()), "--persist-to", join(folder, "temporary")];
    const { code, out, err } = await runProgram("src/tools/start.ts", args, { TMPDIR: join(folder, "none") });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^\nThe folder for temporary files \(TMPDIR\) cannot be used: ENOENT[^\n]+\n\n$/);
  });

  it("a token that is too short for the admin API", async ({ expect }) => {
    const short = join(folder, "short");
    writeFileSync(short, "ADMIN_TOKEN=short\n");
    const args = ["--port", String(await freePort()), "--persist-to", folder, "--vars-file", short];
    const { code, err } = await runProgram("src/tools/start.ts", args);
    expect(code).toBe(1);
    expect(err).toContain(`ADMIN_TOKEN in ${short} needs 32 characters or more, and no blanks.`);
    expect(readFileSync(short, "utf8")).toBe("ADMIN_TOKEN=short\n");
  });

  it("a file of secrets that cannot be read or created", async ({ expect }) => {
    const port = String(await freePort());
    for (const [vars, reason] of [
      [folder, "it is not a regular file"],
      [join(folder, "nowhere", "vars"), "ENOENT"],
    ] as const) {
      const args = ["--port", port, "--persist-to", folder, "--vars-file", vars];
      const { code, out, err } = await runProgram("src/tools/start.ts", args);
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(/^\nThe file of secrets \S+ cannot be used: [^\n]+\n\n$/);
      expect(err).toContain(`${vars} cannot be used: ${reason}`);
    }
  });

  it("arguments that it does not know, with exit code 2", async ({ expect }) => {
    for (const args of [
      ["--port", "http"],
      ["--port", "0"],
      ["--port", "65536"],
      ["--prot", "1"],
      ["more"],
    ]) {
      const { code, out, err } = await runProgram("src/tools/start.ts", args);
      expect([code, out], args.join(" ")).toEqual([2, ""]);
      expect(err).toMatch(/^error: /);
    }
    expect((await runProgram("src/tools/start.ts", ["--help"])).out).toContain("--persist-to <folder>");
  });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

/** Root may write any file, so as root the process runs as another user, who owns this folder. */
function asOtherUser(path: string): SpawnOptions {
  if (process.getuid?.() !== 0) return {};
  chownSync(path, 65_534, 65_534);
  return { uid: 65_534, gid: 65_534 };
}
