/**
 * The commands of docs/deploying.md and docs/second-day.md, run by wrangler in a copy of the project, in which
 * wrangler.toml is edited as the documents say. A fake of Cloudflare's API answers, and records every request.
 */
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { runProcess } from "../support/cli.ts";
import type { ApiRequest } from "../support/cloudflare-api.ts";
import { withDomain } from "../support/configuration.ts";
import { deployProject } from "../support/deploy-project.ts";
import { codeBlocks, filesUnder, markdownFiles, readText, withoutCodeBlocks } from "../support/sources.ts";

/** The lines of shell blocks that run wrangler or a deploy script, or make a file for it. */
const commands = ["docs/deploying.md", "docs/second-day.md"]
  .flatMap((file) => codeBlocks(readText(file)))
  .filter(({ language }) => language === "sh")
  .flatMap(({ text }) => text.split("\n").map((line) => line.trim()))
  .filter((line) => /\bwrangler\b|^npm run deploy|openssl/.test(line));
const MIGRATIONS = filesUnder("migrations", ".sql");

const { api, folder, project, env, editConfiguration } = deployProject();
const walked = new Set<string>();

beforeAll(() => editConfiguration(withDomain));

type Walked = { out: string; code: number | null; requests: ApiRequest[]; lines: string[] };

/** Runs one command line of the documents. `values` replaces what the documents leave open. */
async function walk(line: string, values: Record<string, string> = {}): Promise<Walked> {
  walked.add(line);
  const command = Object.entries(values).reduce((text, [name, value]) => text.replace(name, value), line);
  // npx takes half a second to find what is in the project's folder.
  const { out, err, code } = await runProcess(
    "bash",
    ["-c", command.replaceAll("npx wrangler", "wrangler")],
    env(),
    {
      cwd: project,
    },
  );
  const requests = api.take();
  return { out: out + err, code, requests, lines: linesOf(requests) };
}

/** With `:id` for every id. */
function linesOf(requests: readonly ApiRequest[]): string[] {
  return requests.map(({ line }) => line.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, ":id"));
}

function bodyOf(requests: readonly ApiRequest[], line: RegExp): ApiRequest["body"] {
  return requests.find((request) => line.test(request.line))?.body ?? {};
}

function idOf(name: string): string {
  return [...api.account.databases].find(([, database]) => database.name === name)?.[0] ?? "";
}

const QUERY = "POST /d1/database/:id/query";
/** The table of migrations is made and read: once to apply them, and once to see that none is left. */
const NOTHING_TO_MIGRATE = [QUERY, QUERY, QUERY, QUERY];
/** Each file is one query. */
const MIGRATE = [...NOTHING_TO_MIGRATE, ...MIGRATIONS.map(() => QUERY)];

/** What `wrangler deploy` reads before, and sends after, the upload. The order of the last ones varies. */
function deployment(name: string, upload: readonly string[]): string[] {
  const script = `/workers/scripts/${name}`;
  return [
    `GET /workers/services/${name}`,
    `GET ${script}/secrets`,
    `GET ${script}/deployments`,
    `GET /workers/services/${name}`,
    `POST ${script}/assets-upload-session`,
    "POST /workers/assets/upload?base64=true",
    `GET ${script}/settings`,
    ...upload,
    `PATCH ${script}/script-settings`,
    `GET /workers/workers/${name}`,
    `POST ${script}/subdomain`,
    `PUT ${script}/schedules`,
  ];
}

const DOMAIN = [
  "POST /workers/scripts/store-orders/domains/changeset?replace_state=true",
  "PUT /workers/scripts/store-orders/domains/records",
];

describe("the first deployment", () => {
  let pages: ApiRequest["body"];

  it("is refused while the databases are placeholders, before wrangler runs", async ({ expect }) => {
    const { code, out, lines } = await walk("npm run deploy");
    expect(code).toBe(1);
    expect(out).toContain("The database_id of store-orders is");
    expect(lines).toEqual([]);
  });

  for (const [number, name] of ["store-orders", "store-orders-staging"].entries()) {
    it(`creates the database ${name} in western Europe, and prints its id`, async ({ expect }) => {
      const { out, requests } = await walk(`npx wrangler d1 create ${name} --location weur`);
      expect(requests).toEqual([
        { line: "POST /d1/database", body: { name, primary_location_hint: "weur" } },
      ]);
      const printed = /^database_id = "(.+)"$/m.exec(out)?.[1] ?? "";
      expect(printed).toBe(idOf(name));
      editConfiguration((toml) => toml.replace(`00000000-0000-0000-0000-00000000000${number + 1}`, printed));
    });
  }

  it("of staging has its own database and name, and no domain", async ({ expect }) => {
    // wrangler reads this file too.
    writeFileSync(join(project, ".env"), "WRANGLER_CI_OVERRIDE_NAME=store-orders\n");
    const { code, out, requests, lines } = await walk("npm run deploy:staging");
    expect(code, out).toBe(0);
    const name = "store-orders-staging";
    const upload = [`PUT /workers/scripts/${name}?excludeScript=true&bindings_inherit=strict`];
    const workersDev = ["GET /workers/subdomain", "GET /workers/subdomain"];
    expect(lines.toSorted()).toEqual([...MIGRATE, ...deployment(name, upload), ...workersDev].toSorted());
    expect(bodyOf(requests, /^PUT .*excludeScript/)).toMatchObject({
      bindings: expect.arrayContaining([{ name: "DB", type: "d1", id: idOf(name) }]),
    });
    expect(bodyOf(requests, /\/subdomain$/)).toEqual({});
    pages = bodyOf(requests, /\/assets-upload-session$/);
    expect(pages).toMatchObject({ manifest: { "/console/app.js": {} } });
    expect(bodyOf(requests, /^POST .*\/subdomain$/)).toEqual({ enabled: true, previews_enabled: false });
    expect(out).toContain("https://store-orders-staging.acme.workers.dev");
    rmSync(join(project, ".env"));
  });

  it("of production sends the bindings, the object's class, the domain and the cron trigger", async ({
    expect,
  }) => {
    // Files that are no pages, and a changed page, are not deployed.
    const folder = join(project, "dist", "assets");
    for (const name of ["notes.txt", "docs/.secret"]) writeFileSync(join(folder, name), "secret");
    appendFileSync(join(folder, "console", "app.js"), "// changed");
    const { code, out, requests, lines } = await walk("npm run deploy");
    expect(code, out).toBe(0);
    const upload = ["PUT /workers/scripts/store-orders?excludeScript=true&bindings_inherit=strict"];
    expect(lines.toSorted()).toEqual(
      [...MIGRATE, ...deployment("store-orders", upload), ...DOMAIN].toSorted(),
    );
    expect(bodyOf(requests, /\/assets-upload-session$/)).toEqual(pages);
    const metadata = bodyOf(requests, /^PUT .*excludeScript/);
    const { assets, ...sent } = metadata;
    expect(assets).toMatchObject({ jwt: "assets" });
    expect(sent).toEqual({
      main_module: "index.js",
      bindings: [
        { name: "KEY_LIMITER", type: "durable_object_namespace", class_name: "KeyLimiter" },
        { name: "DB", type: "d1", id: idOf("store-orders") },
        {
          name: "UNKNOWN_KEY_IP_RATE_LIMIT",
          type: "ratelimit",
          namespace_id: "4101",
          simple: { limit: 300, period: 60 },
        },
        {
          name: "ADMIN_SIGN_IN_IP_RATE_LIMIT",
          type: "ratelimit",
          namespace_id: "4102",
          simple: { limit: 200, period: 60 },
        },
      ],
      compatibility_date: "2026-11-01",
      compatibility_flags: [],
      migrations: { new_tag: "v1", steps: [{ new_sqlite_classes: ["KeyLimiter"] }] },
      code_update_strategy: { mode: "deferred", max_delay: 300 },
      keep_bindings: ["secret_text", "secret_key"],
      observability: {
        enabled: true,
        redact_query_string: true,
        logs: { invocation_logs: false },
        traces: { enabled: false },
      },
    });
    expect(bodyOf(requests, /^POST .*\/subdomain$/)).toEqual({ enabled: false, previews_enabled: false });
    expect(bodyOf(requests, /\/schedules$/)).toMatchObject([{ cron: "23 * * * *" }]);
    expect(bodyOf(requests, /domains\/records$/)).toMatchObject({
      origins: [{ hostname: "api.example.com" }],
      override_existing_dns_record: true, // without a terminal, as docs/deploying.md says
    });
  });

  it("applies every migration, each in the same query as its row in d1_migrations", ({ expect }) => {
    for (const { sqlite } of api.account.databases.values()) {
      const rows = sqlite.prepare("select name from d1_migrations order by id").all();
      expect(rows.map(({ name }) => `migrations/${name}`)).toEqual(MIGRATIONS);
      expect(sqlite.prepare("select count(*) as plans from plans").get()).toEqual({ plans: 4 });
    }
  });

  for (const [name, env, file] of [
    ["store-orders", "--env=", "store-orders.token"],
    ["store-orders-staging", "--env staging", "store-orders-staging.token"],
  ]) {
    it(`gives ${name} an admin token that stands in no command line`, async ({ expect }) => {
      await walk(`(umask 077 && openssl rand -hex 32 > ~/${file})`);
      const { lines } = await walk(`npx wrangler secret put ADMIN_TOKEN ${env} < ~/${file}`);
      expect(lines).toEqual([`PUT /workers/scripts/${name}/secrets`]);
      const token = api.account.workers.get(name ?? "")?.secrets.get("ADMIN_TOKEN");
      expect(token).toMatch(/^[0-9a-f]{64}$/);
      expect(readFileSync(join(folder, file ?? ""), "utf8")).toBe(`${token}\n`);
    });
  }
});

describe("the second day", () => {
  const script = "/workers/scripts/store-orders";
  const latest = () => api.account.workers.get("store-orders")?.versions.map(({ id }) => id) ?? [];

  it("lists no migration that the database lacks", async ({ expect }) => {
    const { out, lines } = await walk("npx wrangler d1 migrations list DB --remote --env=");
    expect(out).toContain("No migrations to apply");
    expect(lines).toEqual([QUERY, QUERY]);
  });

  it("an upgrade is a version and a deployment, without a change of the object's class, also while wrangler logs errors only", async ({
    expect,
  }) => {
    const quiet = { "npm run": "WRANGLER_LOG=error npm run" };
    const { code, out, requests, lines } = await walk("npm run deploy", quiet);
    expect(code, out).toBe(0);
    const upload = [`POST ${script}/versions?bindings_inherit=strict`, `POST ${script}/deployments`];
    const expected = [...NOTHING_TO_MIGRATE, ...deployment("store-orders", upload), ...DOMAIN];
    expect(lines.toSorted()).toEqual(expected.toSorted());
    expect(bodyOf(requests, /\/versions\?/)).not.toHaveProperty("migrations");
    expect(bodyOf(requests, /^POST .*\/deployments/)).toMatchObject({
      versions: [{ version_id: latest()[0], percentage: 100 }],
    });
  });

  it.for([
    "npm run deploy -- --dry-run",
    "npm run deploy --dry-run",
    "npm run deploy:staging --env=production",
  ])("%s is refused before wrangler runs", async (line, { expect }) => {
    const { code, err } = await runProcess("bash", ["-c", line], env(), { cwd: project });
    expect([code, api.take()]).toEqual([2, []]);
    expect(err).toContain("Nothing was deployed: --");
  });

  it("a migration that fails half way is undone, and nothing is deployed", async ({ expect }) => {
    const file = join(project, "migrations", "9999_fails.sql");
    writeFileSync(file, "create table half (id integer);\ninsert into no_such_table values (1);\n");
    const { code, lines } = await walk("npm run deploy");
    rmSync(file);
    expect(code).toBe(1);
    expect(lines).toEqual([QUERY, QUERY, QUERY]);
    const { sqlite } = api.account.databases.get(idOf("store-orders")) ?? {};
    expect(sqlite?.prepare("select name from sqlite_master where name = 'half'").all()).toEqual([]);
  });

  it("a rollback deploys the version before at 100 %", async ({ expect }) => {
    const { out } = await walk("npx wrangler deployments list --env=");
    expect(out).toContain(latest()[1]);
    const { requests, lines } = await walk('npx wrangler rollback --env= --message "the reason"');
    expect(lines.filter((line) => !line.startsWith("GET "))).toEqual([`POST ${script}/deployments`]);
    expect(bodyOf(requests, /^POST/)).toMatchObject({
      versions: [{ version_id: latest()[1], percentage: 100 }],
      annotations: { "workers/message": "the reason" },
    });
  });

  it("a gradual deployment splits the requests between two versions", async ({ expect }) => {
    const migrated = await walk("npx wrangler d1 migrations apply DB --remote --env=");
    expect(migrated.lines).toEqual([QUERY, QUERY]);
    const uploaded = await walk('npx wrangler versions upload --env= --message "the release"');
    expect(uploaded.lines).toContain(`POST ${script}/versions?bindings_inherit=strict`);
    expect(uploaded.lines).not.toContain(`POST ${script}/deployments`);
    const [fresh = "", , old = ""] = latest();
    expect((await walk("npx wrangler versions list --env=")).out).toContain(fresh);
    const ids = { NEW: fresh, OLD: old };
    const split = await walk("npx wrangler versions deploy NEW@10 OLD@90 --env= --yes", ids);
    expect(split.code, split.out).toBe(0);
    expect(bodyOf(split.requests, /^POST/)).toMatchObject({
      versions: [
        { version_id: fresh, percentage: 10 },
        { version_id: old, percentage: 90 },
      ],
    });
    const whole = await walk("npx wrangler versions deploy NEW@100 --env= --yes", ids);
    expect(bodyOf(whole.requests, /^POST/)).toMatchObject({
      versions: [{ version_id: fresh, percentage: 100 }],
    });
  });

  it("a restore asks for the bookmark of a time, and prints the one that undoes it", async ({ expect }) => {
    const database = "GET /d1/database/:id";
    const bookmark = `${database}/time_travel/bookmark?timestamp=2026-11-21T12%3A00%3A00.000Z`;
    const info = await walk("npx wrangler d1 time-travel info DB --env= --timestamp 2026-11-21T12:00:00Z");
    expect(info.lines).toEqual([database, bookmark]);
    const restored = await walk(
      "npx wrangler d1 time-travel restore DB --env= --timestamp 2026-11-21T12:00:00Z",
    );
    expect(restored.lines).toEqual([
      database,
      bookmark,
      expect.stringMatching(/^POST \/d1\/database\/:id\/time_travel\/restore\?bookmark=[0-9a-f-]+$/),
    ]);
    expect(restored.out).toContain("To undo this operation");
  });

  it("a backup is files that only their owner can read, without the schema", async ({ expect }) => {
    for (const line of commands.filter((each) => each.includes(" d1 export "))) {
      const { out, requests, lines } = await walk(line);
      expect(lines).toEqual(["POST /d1/database/:id/export", "GET /signed/export.sql"]);
      expect(out).not.toContain("/signed/"); // needs no credential
      const tables = [...line.matchAll(/--table (\w+)/g)].map(([, table]) => table);
      expect(requests[0]?.body).toMatchObject({ dump_options: { no_schema: true, tables } });
    }
    // test/e2e/backup.test.ts restores them, with what is in the files.
    for (const file of ["tables.sql", "cancelled.sql"]) {
      expect(statSync(join(project, file)).mode & 0o777).toBe(0o600);
      const { code, lines } = await walk(`npx wrangler d1 execute DB --remote --env= --file ${file}`);
      expect([code, lines]).toEqual([0, ["POST /d1/database/:id/import"]]);
    }
  });

  it("every query of the documents runs on the tables", async ({ expect }) => {
    const lines = commands.filter((each) => / d1 execute .*--command /.test(each));
    const { sqlite } = api.account.databases.get(idOf("store-orders")) ?? {};
    for (const line of lines) {
      const sql = /--command "(.+)"/.exec(line)?.[1] ?? "";
      expect(sqlite?.prepare(sql).all()).toEqual([]);
      walked.add(line);
    }
    const { code, lines: requests } = await walk(lines[0] ?? "");
    expect([code, requests]).toEqual([0, [QUERY]]);
  });

  it("a tail shows the Worker's lines until Ctrl-C", async ({ expect }) => {
    const { out, requests, lines } = await tail(
      "npx wrangler tail --env= --format json --search request_failed",
    );
    expect(lines).toEqual([`POST ${script}/tails`, `DELETE ${script}/tails/tail`]);
    expect(requests[0]?.body).toEqual({ filters: [{ query: "request_failed" }] });
    expect(out).toContain('{\\"event\\":\\"request\\",\\"status\\":200}');
  });
});

describe("the documents", () => {
  it("have no command that this test does not run", ({ expect }) => {
    expect(commands.filter((line) => !walked.has(line))).toEqual([]);
    expect([...walked].filter((line) => !commands.includes(line))).toEqual([]);
  });

  it("name only options that wrangler knows, also outside of shell blocks", async ({ expect }) => {
    const texts = markdownFiles().map((file) => withoutCodeBlocks(readText(file)));
    const inline = texts.flatMap((text) =>
      [...text.matchAll(/`npx wrangler ([^`]+)`/g)].map(([, args = ""]) => args),
    );
    expect(inline.length).toBeGreaterThan(2);
    const helps = inline.map(async (args) => {
      const names = args.split(" ").filter((word) => /^[a-z][a-z0-9-]*$/.test(word));
      const { code, out } = await runProcess("wrangler", [...names, "--help"], env(), { cwd: project });
      const options = args.match(/--[a-z-]+/g) ?? [];
      return { args, code, unknown: options.filter((option) => !out.includes(option)) };
    });
    for (const help of await Promise.all(helps)) expect(help).toMatchObject({ code: 0, unknown: [] });
  });

  it("made wrangler ask for nothing else, here or elsewhere", ({ expect }) => {
    expect(api.unknown).toEqual([]);
  });
});

/** Until wrangler has printed a message; then Ctrl-C. */
async function tail(line: string): Promise<Walked> {
  walked.add(line);
  const args = line.replace("npx wrangler ", "").split(" ");
  // A tail's WebSocket goes through a proxy whatever no_proxy says.
  const { https_proxy: _https, http_proxy: _http, ...direct } = env();
  const child = spawn("wrangler", args, { cwd: project, env: { ...process.env, ...direct } });
  let out = "";
  child.stdout.on("data", (data: Buffer) => {
    out += data.toString();
    if (out.includes("logs")) child.kill("SIGINT");
  });
  const code = await new Promise<number | null>((done) => child.once("exit", done));
  const requests = api.take();
  return { out, code, requests, lines: linesOf(requests) };
}
