/** `npm start`: the first run, Ctrl-C, the next run on the same data, and what it refuses. */
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { LOCAL_ENV, runWrangler } from "../../src/local/wrangler.ts";
import { SCHEMA_NUMBER } from "../../src/worker/db/schema-number.ts";
import { PROJECT, runAdmin, temporaryFolder } from "../support/cli.ts";
import { readText } from "../support/sources.ts";
import {
  freePort,
  openData,
  processTreeOf,
  type Started,
  signalGroup,
  spawnGroup,
  spawnStart,
  untilEnded,
} from "../support/start.ts";

const folder = temporaryFolder();
const state = join(folder, "state");
const vars = join(folder, "vars");
const READY = "Ctrl-C stops it.";
const TOKEN = "0123456789abcdef0123456789abcdef";
let port: number;
let first: Started;

const run = (...more: string[]) =>
  spawnStart("--port", String(port), "--persist-to", state, "--vars-file", vars, ...more);
const modeOf = (path: string) => statSync(path).mode & 0o777;

beforeAll(async () => {
  port = await freePort();
  first = run();
  await first.until(READY);
});

describe("the first npm start", () => {
  it("makes a token that only its owner can read, and does not print it", ({ expect }) => {
    const [, token = ""] = /^ADMIN_TOKEN=([\w-]{32,})\n$/.exec(readFileSync(vars, "utf8")) ?? [];
    expect(token).not.toBe("");
    expect(first.output()).not.toContain(token);
    expect([vars, state].map(modeOf)).toEqual([0o600, 0o700]);
  });

  it("prints a key for each plan, and a curl line that lists the 250 orders", ({ expect }) => {
    const keys = first.output().match(/^ {2}demo .*$/gm) ?? [];
    expect(keys.map((line) => line.replace(/ +sok_\w+ +/, ": "))).toEqual([
      "  demo free: 60 a minute, 1000 a day",
      "  demo pro: 300 a minute, 10000 a day",
      "  demo business: 1000 a minute, 100000 a day",
      "  demo enterprise: 5000 a minute, 1000000 a day",
    ]);
    const [lines = ""] = /^ +export KEY=.*\n +curl .*$/m.exec(first.output()) ?? [];
    const [head = "", body = ""] = execFileSync("sh", ["-c", `${lines} -s`], { encoding: "utf8" }).split(
      "\r\n\r\n",
    );
    expect(head).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(head).toMatch(/^X-RateLimit-Remaining: \d+\r$/im);
    expect(JSON.parse(body)).toHaveLength(250);
  });

  it("prints one line for each request", async ({ expect }) => {
    for (const path of ["/health", "/v1/no-such-path"]) await fetch(`http://localhost:${port}${path}`);
    const lines = () =>
      first
        .output()
        .split(`${READY}\n`)[1]
        ?.match(/^.*(?:health|"status":401).*$/gm) ?? [];
    await expect.poll(lines).toHaveLength(2);
    expect(lines().map((line) => JSON.parse(line).event)).toEqual(["request", "request"]);
  });

  it("serves no Local Explorer, opens no port for debugging and keeps no traces", async ({ expect }) => {
    for (const path of ["/cdn-cgi/explorer", "/cdn-cgi/explorer/api/d1/database"]) {
      expect((await fetch(`http://localhost:${port}${path}`)).status, path).toBe(404);
    }
    const commands = processTreeOf(first.child).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    expect(commands.filter((command) => command.includes("workerd")).length).toBeGreaterThan(0);
    expect(commands.join(" ")).not.toMatch(/--inspector-addr|--debug-port/);
    expect(globSync(join(state, "v3/observability"))).toEqual([]);
  });

  it("keeps its port and its data from a second one, which says what to type", async ({ expect }) => {
    const onPort = run("--persist-to", join(folder, "other"));
    expect(await onPort.exited).toBe(1);
    expect(onPort.output()).toMatch(
      new RegExp(
        `Port ${port} is taken by another program. Choose another: npm start -- --port (?!${port})\\d+\n`,
      ),
    );
    const onData = run();
    expect(await onData.exited).toBe(1);
    const advice = new RegExp(
      `at http://localhost:${port}, with the data in ${state}. To stop it: kill (\\d+)\nTo start another one with other data: npm start -- (.+) --persist-to (.+)\n`,
    );
    const [, pid, onOther = "", other = ""] = advice.exec(onData.output()) ?? [];
    expect(processTreeOf(first.child)).toContain(Number(pid));
    const another = run(...onOther.split(" "), "--persist-to", other);
    await another.until(READY);
    expect(another.output()).toContain(`export ADMIN_URL=http://localhost:${onOther.split(" ")[1]}\n`);
    process.kill(JSON.parse(readFileSync(join(other, "lock.json"), "utf8")).pid);
    expect(await another.exited).toBe(0);
  });

  it("starts anew if the runtime that holds the port ends", { timeout: 120_000 }, async ({ expect }) => {
    const holder = processTreeOf(first.child).find((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`entry=localhost:${port}`),
    );
    process.kill(holder ?? 0, "SIGKILL");
    await first.until("The service runs again.");
    expect((await fetch(`http://localhost:${port}/health`)).status).toBe(200);
  });

  it("stops at Ctrl-C with all its processes, and says so", async ({ expect }) => {
    const processes = processTreeOf(first.child);
    expect(processes.length).toBeGreaterThan(2);
    signalGroup(first.child, "SIGINT");
    expect(await first.exited).toBe(0);
    expect(first.output()).toMatch(/\n\nStore Orders has stopped\.\n$/);
    await untilEnded(processes);
  });
});

describe("npm start with more than a token in its file of vars", () => {
  const file = join(folder, "more");
  const alerts: unknown[] = [];
  const receiver = createServer((request, response) => {
    alerts.push(request.headers["webhook-id"]);
    response.writeHead(alerts.length === 1 ? 500 : 204).end();
  });
  let service: string;
  let output: () => string;

  beforeAll(async () => {
    await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
    const address = receiver.address();
    const url = typeof address === "object" && address ? `http://localhost:${address.port}/` : "";
    const lines = [
      `ADMIN_TOKEN=${TOKEN}`,
      `ALERT_WEBHOOK_URL=${url}`,
      `ALERT_WEBHOOK_SECRET=whsec_${btoa("x".repeat(24))}`,
      "CORS_ORIGIN=https://app.example",
      "SUPPORT_CONTACT=nobody",
    ];
    writeFileSync(file, lines.join("\n"));
    const port = await freePort();
    const run = spawnStart(
      "--port",
      String(port),
      "--persist-to",
      join(folder, "more-data"),
      "--vars-file",
      file,
    );
    await run.until(READY);
    service = `http://localhost:${port}`;
    output = run.output;
  });
  afterAll(() => receiver.close());

  it("says which settings are wrong", ({ expect }) => {
    expect(output()).toContain(
      "\n  The Worker knows no setting CORS_ORIGIN.\n  SUPPORT_CONTACT must be an e-mail address",
    );
  });

  it("sends an alert again that the receiver refused", { timeout: 180_000 }, async ({ expect }) => {
    const env = { ADMIN_TOKEN: TOKEN, ADMIN_URL: service };
    await runAdmin(["bans", "set", "demo free", "--for", "1h", "--reason", "a test"], env);
    await expect.poll(() => alerts.length, { timeout: 150_000, interval: 500 }).toBe(2);
    expect(alerts[1]).toBe(alerts[0]);
  });
});

describe("the next npm start", () => {
  it("keeps the data, and says how to get a key again; a kill of npm stops it too", async ({ expect }) => {
    const options = ["--port", String(port), "--persist-to", state, "--vars-file", vars];
    const next = spawnGroup("npm", ["start", "--", ...options]);
    await next.until(READY);
    expect(next.output()).not.toContain("sok_");
    expect(next.output()).toContain('./store-orders keys rotate "demo free"\n');
    const [, key] = /demo free +(sok_\w+)/.exec(first.output()) ?? [];
    const headers = { Authorization: `Bearer ${key}` };
    const listed = await fetch(`http://localhost:${port}/v1/store/orders`, { headers });
    expect(await listed.json()).toHaveLength(250);
    const processes = processTreeOf(next.child);
    next.child.kill("SIGTERM");
    await untilEnded(processes);
  });

  it("can be stopped while it prepares the database", async ({ expect }) => {
    // The port of the first run is free by now, so that another test may have it.
    const next = run("--port", String(await freePort()));
    await next.until("Preparing the database …");
    signalGroup(next.child, "SIGINT");
    expect(await next.exited).toBe(0);
    expect(next.output()).toMatch(/^Preparing the database …\n\nStore Orders has stopped\.\n$/);
  });

  it.for([
    [
      "of a newer version",
      `drop view schema_number; create view schema_number as select ${SCHEMA_NUMBER + 1} as number`,
      `The database is of a newer version (schema ${SCHEMA_NUMBER + 1}, and this version has ${SCHEMA_NUMBER}): use that version`,
    ],
    [
      "of 2.1",
      "drop view schema_number; drop table if exists past_owners",
      "The database is of version 2.1 or older, and no migration brings it to this version",
    ],
    [
      "that is broken",
      undefined,
      `The database in ${state} could not be read. To start with a new one, move`,
    ],
  ] as const)("leaves a database %s as it is, and says what to do", async ([, sql, says], { expect }) => {
    const files = globSync(join(state, "v3/d1/miniflare-D1DatabaseObject/*.sqlite*"));
    for (const file of sql === undefined ? files : []) writeFileSync(file, "no database".repeat(500));
    if (sql !== undefined) openData(state).exec(sql);
    const next = run("--port", String(await freePort()));
    expect(await next.exited).toBe(1);
    expect(next.output()).toContain(says);
    expect(next.output()).toContain("To start with a new one, move the folder away.\n");
  });
});

describe("npm start on the data of 2.2", () => {
  it("brings the database to this version, and its keys go on", async ({ expect }) => {
    const data = join(folder, "of-2.2");
    const file = join(folder, "of-2.2.sql");
    const noted = `create table d1_migrations (id integer primary key autoincrement, name text unique, applied_at timestamp default current_timestamp not null);
      insert into d1_migrations (name) values ('0000_init.sql');`;
    const tables = readText("migrations/0000_init.sql");
    writeFileSync(file, [tables, noted, readText("test/fixtures/database-2.2.sql")].join("\n"));
    const where = ["DB", "--env=", "--local", "--persist-to", data];
    expect((await runWrangler(["d1", "execute", ...where, "--file", file], LOCAL_ENV)).code).toBe(0);
    const own = await freePort();
    const next = run("--port", String(own), "--persist-to", data);
    await next.until(READY);
    expect(next.output()).toContain("Bringing the database to this version …\n");
    expect(next.output()).not.toContain("sok_");
    const headers = { Authorization: "Bearer sok_0WpnVnI0yYk48rp6lRwhBwdWOqtEkfzRsPRaWMF2k7gpi" };
    const listed = await fetch(`http://localhost:${own}/v1/store/orders`, { headers });
    expect([listed.status, listed.headers.get("X-RateLimit-Limit")]).toEqual([200, "300"]);
    next.child.kill("SIGTERM");
    await next.exited;
  });
});

describe("npm start refuses", () => {
  it.for([
    [2, "--port 0", "must be from 1 to 65535."],
    [2, "--prot 1", "unknown option '--prot'"],
    [2, "more", "too many arguments"],
  ] as const)("with exit code %i: %s", async ([code, args, message], { expect }) => {
    const refused = spawnStart(...args.split(" "));
    expect(await refused.exited).toBe(code);
    expect(refused.output()).toContain(message);
  });

  it("an option that npm has taken, as in npm start --port 8790", ({ expect }) => {
    const env = { ...process.env, npm_config_port: "true" };
    const args = ["src/tools/run.js", "src/tools/start.ts", "8790"];
    expect(spawnSync(process.execPath, args, { cwd: PROJECT, env, encoding: "utf8" })).toMatchObject({
      status: 2,
      stderr: "npm took --port for its own. Type -- before the options: npm start -- --port …\n",
    });
  });

  it("a token that the admin API would not accept, and leaves the file as it is", async ({ expect }) => {
    const short = join(folder, "short");
    writeFileSync(short, "ADMIN_TOKEN=short\n");
    const refused = run("--persist-to", join(folder, "unused"), "--vars-file", short);
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toContain(
      `ADMIN_TOKEN in ${short} needs 32 characters or more. Remove the line, and npm start writes a new one.\n`,
    );
    expect(readFileSync(short, "utf8")).toBe("ADMIN_TOKEN=short\n");
  });
});
