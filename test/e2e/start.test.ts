/** `npm start` as a stranger runs it: what it prints, what it keeps, what it says when it cannot, what it leaves behind. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { readAdminToken } from "../../src/cli/dev-vars.ts";
import { type Finished, PROJECT, QUICK, run, runAdmin, temporaryFolder } from "./cli-support.ts";

const folder = temporaryFolder();
const varsFile = join(folder, "vars");
const TOKEN = "a-token-for-the-local-instance-only";

type Instance = { child: ChildProcess; port: number; state: string; output: () => string };

const started: ChildProcess[] = [];
afterAll(async () => {
  await Promise.all(started.map((child) => interrupt(child)));
});

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" && address ? address.port : 0));
    });
  });
}

function argumentsOf({ port, state }: { port: number; state: string }): string[] {
  return ["--port", String(port), "--persist-to", state, "--vars-file", varsFile];
}

/** Runs until it says that it is ready; throws what it printed if it ends before. */
async function start(port: number, state: string): Promise<Instance> {
  const child = spawn(process.execPath, ["src/tools/start.ts", ...argumentsOf({ port, state })], {
    cwd: PROJECT,
    env: { ...process.env, ...QUICK },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let output = "";
  await new Promise<void>((done, reject) => {
    const read = (data: Buffer) => {
      output += data.toString();
      if (output.includes("Ctrl-C stops it.")) done();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new Error(`ended before it was ready:\n${output}`)));
  });
  return { child, port, state, output: () => output };
}

function startToEnd(options: { port: number; state: string }): Promise<Finished> {
  return run("src/tools/start.ts", argumentsOf(options));
}

function interrupt(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((done) => {
    child.once("exit", done);
    child.kill("SIGINT");
  });
}

/** The process and all it started, however many generations down. */
function familyOf(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => ({ pid: Number(entry), parent: parentOf(Number(entry)) }));
  const family = [pid];
  for (const member of family) {
    family.push(...parents.filter(({ parent }) => parent === member).map((child) => child.pid));
  }
  return family;
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined; // It ended meanwhile.
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function keysIn(output: string): string[] {
  return [...output.matchAll(/^ {2}demo \w+ +(sok_\w{38}) /gm)].map(([, key = ""]) => key);
}

async function list({ port }: Instance, key = ""): Promise<{ status: number; orders: unknown }> {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`http://localhost:${port}/v1/store/orders`, { headers });
  return { status: response.status, orders: await response.json() };
}

function admin({ port }: Instance, ...args: string[]): Promise<Finished> {
  return runAdmin(["--url", `http://localhost:${port}`, ...args], { ADMIN_TOKEN: TOKEN });
}

describe("npm start", () => {
  let first: Instance;
  let beside: Instance;

  beforeAll(async () => {
    const ports = [await freePort(), await freePort()] as const;
    writeFileSync(varsFile, `ADMIN_TOKEN=${TOKEN}\n`);
    const states = [join(folder, "first"), join(folder, "beside")] as const;
    [first, beside] = await Promise.all([start(ports[0], states[0]), start(ports[1], states[1])]);
  });

  it("prints a key for each plan, with its limits", ({ expect }) => {
    const lines = first.output().match(/^ {2}demo .*$/gm) ?? [];
    expect(lines.map((line) => line.replace(/ +sok_\w{38} +/, ": "))).toEqual([
      "  demo free: 60 a minute, 1000 a day",
      "  demo pro: 300 a minute, 10000 a day",
      "  demo business: 1000 a minute, 100000 a day",
      "  demo enterprise: 5000 a minute, 1000000 a day",
    ]);
  });

  it("prints a curl line that lists the 250 orders when it is pasted", ({ expect }) => {
    const line = /^ +(curl .*)$/m.exec(first.output())?.[1] ?? "";
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
        const order = await fetch(`http://localhost:${first.port}/admin/orders/${10 * i + 1}`, { headers });
        return JSON.parse(await order.text()).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set(["pending", "processing", "shipped", "delivered"]));
  });

  it("shows the operator's token to nobody, and leaves the file that it is in alone", ({ expect }) => {
    expect(readFileSync(varsFile, "utf8")).toBe(`ADMIN_TOKEN=${TOKEN}\n`);
    expect(first.output() + beside.output()).not.toContain(TOKEN);
  });

  it("runs a second instance beside the first, each with its own data", async ({ expect }) => {
    const [key] = keysIn(first.output());
    const [other] = keysIn(beside.output());
    expect(other).not.toBe(key);
    expect([await list(first, key), await list(beside, other)]).toMatchObject([
      { status: 200 },
      { status: 200 },
    ]);
    expect([await list(first, other), await list(beside, key)]).toMatchObject([
      { status: 401 },
      { status: 401 },
    ]);
  });

  it("says which port is taken, and how to choose another", async ({ expect }) => {
    const { code, out, err } = await startToEnd(first);
    expect([code, out]).toEqual([1, ""]);
    expect(err.trim()).toBe(
      `Port ${first.port} is taken. Choose another: npm start -- --port ${first.port + 1}`,
    );
  });

  it("says that a state folder is in use, and where", async ({ expect }) => {
    const port = await freePort();
    const { code, out, err } = await startToEnd({ port, state: first.state });
    expect([code, out]).toEqual([1, ""]);
    expect(err.trim()).toBe(
      `The state folder ${first.state} is in use at http://localhost:${first.port}. Choose another: npm start -- --port ${port} --persist-to FOLDER`,
    );
  });

  it("is stopped by Ctrl-C with everything that it started", async ({ expect }) => {
    const family = familyOf(beside.child.pid ?? 0);
    expect(family.length).toBeGreaterThan(2);
    expect(await interrupt(beside.child)).toBe(0);
    expect(family.filter(isRunning)).toEqual([]);
    await expect(fetch(`http://localhost:${beside.port}/`)).rejects.toThrow();
    expect((await list(first, keysIn(first.output())[0])).status).toBe(200);
  });

  it("is stopped by Ctrl-C without a word while it loads its demo data", async ({ expect }) => {
    const port = await freePort();
    const args = argumentsOf({ port, state: join(folder, "loading") });
    const child = spawn(process.execPath, ["src/tools/start.ts", ...args], { cwd: PROJECT });
    started.push(child);
    let errors = "";
    child.stderr.on("data", (data: Buffer) => {
      errors += data.toString();
    });
    const url = `http://localhost:${port}/admin/plans`;
    const isUp = () =>
      fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } }).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await isUp())) await new Promise((done) => setTimeout(done, 5));
    expect([await interrupt(child), errors]).toEqual([0, ""]);
  });

  it("keeps its data, prints no keys again and says how to make one", async ({ expect }) => {
    const [key] = keysIn(beside.output());
    const again = await start(beside.port, beside.state);
    expect(again.output()).not.toContain("sok_");
    expect(again.output()).toContain(
      `npm run -s admin -- --url http://localhost:${again.port} keys create --name mine --plan free`,
    );
    expect((await list(again, key)).orders).toHaveLength(250);
    expect((await admin(again, "audit", "--limit", "500")).out).toMatch(/npm start +keys.create/);
    expect((await admin(again, "keys", "list")).out.match(/^key_/gm)).toHaveLength(4);
    await interrupt(again.child);
  });

  it("says that a database is broken, and how to start afresh", async ({ expect }) => {
    const [database = ""] = globSync(join(beside.state, "v3/d1/**/*.sqlite")).filter(
      (file) => !file.endsWith("metadata.sqlite"),
    );
    for (const file of globSync(`${database}*`)) writeFileSync(file, "this is no database".repeat(500));
    const { code, out, err } = await startToEnd(beside);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(
      `The database in ${beside.state} could not be brought up to date. To start afresh, move the folder away.`,
    );
    expect(err).toMatch(/not a database|malformed|NOTADB/i);
  });
});

describe("npm start refuses at once", () => {
  it("a state folder that is a file", async ({ expect }) => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const { code, out, err } = await startToEnd({ port: await freePort(), state: file });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(`The state folder ${file} cannot be used: EEXIST`);
  });

  it("a state folder in which nothing can be written", async ({ expect }) => {
    const state = join(folder, "jammed");
    mkdirSync(join(state, "port"), { recursive: true });
    const { code, out, err } = await startToEnd({ port: await freePort(), state });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^\nThe state folder \S+ cannot be used: EISDIR[^\n]+\n\n$/);
  });

  it("a token that is too short to turn the operator's surface on", async ({ expect }) => {
    const short = join(folder, "short");
    writeFileSync(short, "ADMIN_TOKEN=short\n");
    const args = ["--port", String(await freePort()), "--persist-to", folder, "--vars-file", short];
    const { code, err } = await run("src/tools/start.ts", args);
    expect(code).toBe(1);
    expect(err).toContain(`ADMIN_TOKEN in ${short} needs 32 characters at least, and no blanks.`);
    expect(readFileSync(short, "utf8")).toBe("ADMIN_TOKEN=short\n");
  });

  it("a file of secrets that cannot be read or made", async ({ expect }) => {
    const port = String(await freePort());
    for (const vars of [folder, join(folder, "nowhere", "vars")]) {
      const args = ["--port", port, "--persist-to", folder, "--vars-file", vars];
      const { code, out, err } = await run("src/tools/start.ts", args);
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(/^\nThe file of secrets \S+ cannot be used: E\w+[^\n]+\n\n$/);
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
      const { code, out, err } = await run("src/tools/start.ts", args);
      expect([code, out], args.join(" ")).toEqual([2, ""]);
      expect(err).toMatch(/^error: /);
    }
    expect((await run("src/tools/start.ts", ["--help"])).out).toContain("--persist-to <folder>");
  });
});

describe("the file of secrets", () => {
  it("is read as wrangler reads it", ({ expect }) => {
    const token = "0123456789abcdefghijklmnopqrstuvwxyz";
    const file = join(folder, "forms");
    for (const line of [
      `ADMIN_TOKEN=${token} # mine`,
      `export ADMIN_TOKEN='${token}'`,
      `ADMIN_TOKEN = "${token}"\r\nOTHER=x`,
      `ADMIN_TOKEN=first\nADMIN_TOKEN=${token}`,
    ]) {
      writeFileSync(file, `# secrets\n${line}\n`);
      expect(readAdminToken(file), line).toBe(token);
    }
    writeFileSync(file, "ADMIN_TOKEN=\n");
    expect(readAdminToken(file)).toBeUndefined();
  });

  /** A start that ends, as its database cannot be opened, after it has looked after its token. */
  async function startInVain(vars: string): Promise<void> {
    const state = join(folder, `state of ${vars.replaceAll("/", "-")}`);
    mkdirSync(join(state, "v3"), { recursive: true });
    writeFileSync(join(state, "v3", "d1"), "");
    const args = ["--port", String(await freePort()), "--persist-to", state, "--vars-file", vars];
    if ((await run("src/tools/start.ts", args)).code !== 1) throw new Error("the start was not in vain");
  }

  it("is made with a random token, for its owner's eyes only, where there is none", async ({ expect }) => {
    const made = join(folder, "made");
    await startInVain(made);
    expect(statSync(made).mode & 0o777).toBe(0o600);
    expect(readFileSync(made, "utf8")).toMatch(/^ADMIN_TOKEN=[\w-]{43}\n$/);
  });

  it("gets a token where it has none, and keeps everything else, its mode among it", async ({ expect }) => {
    const known = join(folder, "known");
    writeFileSync(known, "OTHER=kept", { mode: 0o640 });
    await startInVain(known);
    expect(readFileSync(known, "utf8")).toMatch(/^OTHER=kept\nADMIN_TOKEN=[\w-]{43}\n$/);
    expect(statSync(known).mode & 0o777).toBe(0o640);
  });
});

describe("Ctrl-C before it is ready", () => {
  it("stops what was started so far", async ({ expect }) => {
    const args = argumentsOf({ port: await freePort(), state: join(folder, "interrupted") });
    const child = spawn(process.execPath, ["src/tools/start.ts", ...args], { cwd: PROJECT, stdio: "ignore" });
    started.push(child);
    let family: number[] = [];
    for (const deadlineMs = Date.now() + 10_000; family.length < 2 && Date.now() < deadlineMs; ) {
      await new Promise((done) => setTimeout(done, 20));
      family = familyOf(child.pid ?? 0);
    }
    expect(family.length).toBeGreaterThan(1);
    expect(await interrupt(child)).toBe(0);
    expect(family.filter(isRunning)).toEqual([]);
  });
});
