/** The command line as a process: signals and closed pipes. test/e2e shows the rest in-process. */
import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { PROJECT, runProcess, runProgram, temporaryFolder } from "../support/cli.ts";

let onRequest: (response: ServerResponse) => void = () => {};
const server = createServer((_request, response) => onRequest(response));

beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

describe("the process of the command line", () => {
  for (const [signal, exitCode] of [
    ["SIGHUP", 129],
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    it(`ends an import at ${signal} with exit code ${exitCode}, after its progress so far`, async ({
      expect,
    }) => {
      // A server that listens on a port has an address of this type.
      const { port } = server.address() as AddressInfo;
      const args = ["src/cli/main.ts", "--url", `http://127.0.0.1:${port}`, "orders", "import", "-"];
      const child = spawn(process.execPath, args, {
        cwd: PROJECT,
        env: { ...process.env, ADMIN_TOKEN: "a-token" },
      });
      onRequest = () => child.kill(signal);
      child.stdin.end('{"id":1}');
      let errors = "";
      child.stderr.on("data", (data: Buffer) => {
        errors += data.toString();
      });
      expect(await new Promise((done) => child.once("close", done))).toBe(exitCode);
      expect(errors.match(/0 loaded, 0 refused/g)).toHaveLength(2);
    });
  }

  it("ends when npm is ended, which passes no signal on", async ({ expect }) => {
    // A server that listens on a port has an address of this type.
    const { port } = server.address() as AddressInfo;
    const args = ["run", "-s", "admin", "--", "--url", `http://127.0.0.1:${port}`, "plans", "list"];
    const npm = spawn("npm", args, { cwd: PROJECT, env: { ...process.env, ADMIN_TOKEN: "a-token" } });
    // Never answered.
    onRequest = () => npm.kill("SIGTERM");
    const startedAt = performance.now();
    // When all that write to its output have ended.
    await new Promise((done) => npm.once("close", done));
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  it("has time for its clean-up also if npm passes on the signal that it has had", async ({ expect }) => {
    const program = join(temporaryFolder(), "program.ts");
    const signals = JSON.stringify(join(PROJECT, "src", "cli", "signals.ts"));
    writeFileSync(
      program,
      `import { listenForSignals } from ${signals};
      const end = setTimeout(() => {}, 60_000);
      listenForSignals().addEventListener("abort", () => setTimeout(() => {
        console.log("cleaned up");
        clearTimeout(end);
      }, 600));
      console.log("ready");`,
    );
    const outputAfter = async (pauseMs: number) => {
      const child = spawn(process.execPath, [program]);
      let out = "";
      child.stdout.on("data", (data: Buffer) => {
        if (out === "") {
          child.kill("SIGINT");
          setTimeout(() => child.kill("SIGINT"), pauseMs);
        }
        out += data.toString();
      });
      await new Promise((done) => child.once("close", done));
      return out;
    };
    expect(await outputAfter(50)).toBe("ready\ncleaned up\n");
    // A person pressed Ctrl-C again.
    expect(await outputAfter(450)).toBe("ready\n");
  });

  it("sends itself no second signal after one to the whole process group", async ({ expect }) => {
    const program = join(temporaryFolder(), "program.ts");
    const module = (name: string) => JSON.stringify(join(PROJECT, "src", "tools", name));
    writeFileSync(
      program,
      `import ${module("npm-shell.ts")};
      import { endWithNpm } from ${module("end-with-npm.ts")};
      let signals = 0;
      process.on("SIGTERM", () => signals++);
      endWithNpm("admin", () => signals > 0);
      setTimeout(() => console.log(signals), 3_000);
      console.log("ready");`,
    );
    const command = `"${process.execPath}" "${program}" & wait`;
    const shell = spawn("sh", ["-c", command], {
      env: { ...process.env, npm_lifecycle_event: "admin" },
      detached: true,
    });
    let out = "";
    shell.stdout.on("data", (data: Buffer) => {
      if (out === "" && shell.pid !== undefined) process.kill(-shell.pid, "SIGTERM");
      out += data.toString();
    });
    await new Promise((done) => shell.once("close", done));
    expect(out).toBe("ready\n1\n");
  });

  it("ends also if npm was ended while the program was loaded", async ({ expect }) => {
    const program = join(temporaryFolder(), "program.ts");
    const endWithNpm = JSON.stringify(join(PROJECT, "src", "tools", "end-with-npm.ts"));
    writeFileSync(
      program,
      `await new Promise((done) => setTimeout(done, 2_000));
      (await import(${endWithNpm})).endWithNpm("admin");
      console.log("it went on");`,
    );
    const run = (seconds: number) => {
      const command = `"${process.execPath}" src/tools/run.js "${program}" & sleep ${seconds}`;
      return runProcess("sh", ["-c", command], { npm_lifecycle_event: "admin" });
    };
    expect((await run(0.5)).out).toBe("");
    expect((await run(4)).out).toBe("it went on\n");
  });

  it("ends at one SIGTERM also while it waits for the writer of a FIFO", async ({ expect }) => {
    const fifo = join(temporaryFolder(), "orders");
    execFileSync("mkfifo", [fifo]);
    // SIGTERM after 2 seconds, and SIGKILL, which would be exit code 137, 5 seconds later.
    const timeout = ["--preserve-status", "--kill-after=5", "2"];
    const program = [process.execPath, "src/cli/main.ts", "orders", "import", fifo];
    const { code, err } = await runProcess("timeout", [...timeout, ...program], { ADMIN_TOKEN: "a-token" });
    expect([code, err]).toEqual([143, ""]);
  });

  it("asks the local service directly, also where all requests go to a proxy", async ({ expect }) => {
    let asked = 0;
    onRequest = (response) => {
      asked++;
      response.end('{"plans":[]}');
    };
    // A server that listens on a port has an address of this type.
    const { port } = server.address() as AddressInfo;
    const env = {
      ADMIN_TOKEN: "a-token",
      NODE_USE_ENV_PROXY: "1",
      HTTP_PROXY: `http://127.0.0.1:${port}`,
      NO_PROXY: "api.example.com",
    };
    for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
      const { err } = await runProgram(
        "src/cli/main.ts",
        ["--url", `http://${host}:1`, "plans", "list"],
        env,
      );
      expect(err).toContain(`http://${host}:1 cannot be reached.`);
    }
    expect(asked).toBe(0);
  });

  it("ends after the answer to a question on a terminal", async ({ expect }) => {
    onRequest = (response) => response.end('{"plans":[]}');
    // A server that listens on a port has an address of this type.
    const { port } = server.address() as AddressInfo;
    const program = `"${process.execPath}" src/cli/main.ts --url http://127.0.0.1:${port} plans set pro --per-day 5`;
    // util-linux's script runs the program on a terminal.
    const { code, out } = await runProcess(
      "sh",
      ["-c", `(sleep 2; echo no) | script -qec '${program}' /dev/null`],
      {
        ADMIN_TOKEN: "a-token",
      },
    );
    expect(out).toContain("none → 5 a day. Type yes to go on: ");
    expect(out).toContain("Nothing was changed.");
    expect(code).toBe(1);
  });

  it("ends with exit code 0 and no error when its reader has closed the pipe", async ({ expect }) => {
    const program = `"${process.execPath}" src/cli/main.ts --help; echo "exit $?" >&2`;
    const { err } = await runProcess("sh", ["-c", `(${program}) | true`]);
    expect(err).toBe("exit 0\n");
  });

  it("ends with exit code 1 and one line when its output cannot be stored", async ({ expect }) => {
    const program = `"${process.execPath}" src/cli/main.ts --help > /dev/full`;
    const { code, err } = await runProcess("sh", ["-c", program]);
    expect([code, err]).toEqual([
      1,
      "error: The output cannot be written: ENOSPC: no space left on device, write. What the command changed stays changed.\n",
    ]);
  });

  it("goes on when its messages cannot be shown", async ({ expect }) => {
    const program = `"${process.execPath}" src/cli/main.ts keys create --unknown 2> /dev/full`;
    expect(await runProcess("sh", ["-c", program])).toEqual({ code: 2, out: "", err: "" });
  });

  it("ends with exit code 1 when only the beginning of its output can be stored", async ({ expect }) => {
    const orders = Array.from({ length: 100 }, (_, id) => ({ id, status: "pending" }));
    onRequest = (response) => response.end(JSON.stringify({ orders, next: null }));
    // A server that listens on a port has an address of this type.
    const { port } = server.address() as AddressInfo;
    const file = join(temporaryFolder(), "orders.ndjson");
    const program = `"${process.execPath}" src/cli/main.ts --url http://127.0.0.1:${port} orders export > "${file}"`;
    // 512 or 1,024 bytes, by the shell.
    const run = ["-c", `ulimit -f 1; ${program}`];
    const { code, err } = await runProcess("sh", run, { ADMIN_TOKEN: "a-token" });
    expect(code).toBe(1);
    expect(err).toMatch(
      /^error: The output cannot be written: EFBIG: .* What the command changed stays changed\.\n$/,
    );
  });
});
