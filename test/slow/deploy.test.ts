/** `npm run deploy` with the real wrangler, in a copy of the project, and a fake of Cloudflare's API. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, type ExpectStatic, it, vi } from "vitest";
import { SCHEMA_NUMBER } from "../../src/worker/db/schema-number.ts";
import { type Finished, PROJECT, runProcess, temporaryFolder } from "../support/cli.ts";
import { COMPATIBILITY_DATE } from "../support/database.ts";
import { inventKey } from "../support/mint.ts";
import { codeBlocks, readText } from "../support/sources.ts";
import { modulesIn } from "../support/worker-modules.ts";

const project = temporaryFolder();
const DATABASE_ID = "5a1c7e0e-0000-0000-0000-000000000001";
let database = new DatabaseSync(":memory:");
/** What D1 answers in place of the rows. */
let outage: Answer | undefined;

type Upload = Record<string, unknown>;
let requests: { line: string; body: Upload; files: Map<string, string> }[] = [];

const api = createServer(async (request, response) => {
  const path = (request.url ?? "").replace(/^\/client\/v4(\/accounts\/\w+)?/, "");
  const { body, files } = await bodyOf(request);
  requests.push({ line: `${request.method} ${path.replace(/\?.*/, "")}`, body, files });
  const { status = 200, result, error } = answer(`${request.method} ${path}`, body);
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ success: !error, errors: error ? [error] : [], messages: [], result }));
});

type Answer = { status?: number; result?: unknown; error?: { code: number; message: string } };

function answer(line: string, body: Upload): Answer {
  if (line.startsWith(`POST /d1/database/${DATABASE_ID}/query`)) return outage ?? query(String(body.sql));
  if (/assets-upload-session/.test(line)) return { result: { jwt: "assets", buckets: [] } };
  if (/^PUT \/workers\/scripts\/store-orders\?/.test(line))
    return { result: { id: "store-orders", startup_time_ms: 10 } };
  if (line === "GET /workers/subdomain") return { result: { subdomain: "acme" } };
  if (line === "GET /workers/workers/store-orders") return { result: { subdomain: { enabled: false } } };
  if (/domains\/changeset/.test(line))
    return { result: { added: Object.values(body), removed: [], updated: [], conflicting: [] } };
  // No Worker of this name has been deployed.
  if (line.startsWith("GET /workers/"))
    return { status: 404, error: { code: 10_090, message: "This Worker does not exist." } };
  return { result: {} };
}

/** One request is one transaction, as in D1. */
function query(sql: string): Answer {
  try {
    if (/^\s*select\b/i.test(sql))
      return { result: [{ success: true, results: database.prepare(sql).all(), meta: {} }] };
    database.exec(`begin;${sql};commit`);
    return { result: [{ success: true, results: [], meta: {} }] };
  } catch (thrown) {
    if (database.isTransaction) database.exec("rollback");
    return { status: 400, error: { code: 7_500, message: String(thrown) } };
  }
}

/** `files`: what is uploaded beside the metadata, by the name of the file. */
async function bodyOf(request: IncomingMessage): Promise<{ body: Upload; files: Map<string, string> }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  const files = new Map<string, string>();
  if (bytes.length === 0) return { body: {}, files };
  if (!type.startsWith("multipart/form-data")) return { body: JSON.parse(bytes.toString()), files };
  const form = await new Response(bytes, { headers: { "Content-Type": type } }).formData();
  for (const part of form.values()) if (part instanceof File) files.set(part.name, await part.text());
  return { body: JSON.parse(String(form.get("metadata"))), files };
}

beforeAll(async () => {
  for (const name of ["src", "migrations", "package.json", "tsconfig.json"])
    cpSync(join(PROJECT, name), join(project, name), { recursive: true });
  for (const name of ["node_modules", "package-lock.json"])
    symlinkSync(join(PROJECT, name), join(project, name));
  await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
});
afterAll(() => {
  api.closeAllConnections();
  api.close();
});

async function deploy(
  edit: (toml: string) => string,
  credential: Record<string, string> = { CLOUDFLARE_API_TOKEN: "a-token-for-the-fake-account-only" },
): Promise<Finished & { lines: string[] }> {
  writeFileSync(join(project, "wrangler.toml"), edit(readFileSync(join(PROJECT, "wrangler.toml"), "utf8")));
  requests = [];
  const address = api.address();
  if (typeof address !== "object" || !address) throw new Error("the fake API does not listen");
  const env = {
    HOME: project,
    XDG_CONFIG_HOME: join(project, "config"),
    PATH: `${PROJECT}/node_modules/.bin:${process.env.PATH}`,
    CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${address.port}/client/v4`,
    CLOUDFLARE_ACCOUNT_ID: "0123456789abcdef0123456789abcdef",
    CLOUDFLARE_API_TOKEN: "",
    ...credential,
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    no_proxy: "127.0.0.1",
  };
  const finished = await runProcess("npm", ["run", "deploy"], env, { cwd: project });
  return { ...finished, lines: requests.map(({ line }) => line) };
}

/** As docs/deploying.md has it edited. */
function withDatabaseAndDomain(toml: string): string {
  return toml
    .replace("00000000-0000-0000-0000-000000000001", DATABASE_ID)
    .replace(
      /^workers_dev = false/m,
      'routes = [{ pattern = "api.example.com", custom_domain = true }]\nworkers_dev = false',
    );
}

/** Runs what was uploaded, on a database without tables, and asks which lines of src an error came from. */
async function expectReadableStacks(expect: ExpectStatic, files: ReadonlyMap<string, string>) {
  const uploaded = join(project, "uploaded");
  mkdirSync(uploaded);
  for (const [name, text] of files) writeFileSync(join(uploaded, name), text);
  const modules = modulesIn(uploaded);
  const scripts = modules.filter(({ type }) => type === "ESModule").map(({ path }) => path);
  // What only operators need is a module of its own.
  expect(scripts).toEqual([
    "index.js",
    expect.stringMatching(/^chunk-/),
    expect.stringMatching(/^operators-/),
  ]);
  expect([...files.keys()]).toEqual(expect.arrayContaining(scripts.map((name) => `${name}.map`)));
  const lines: string[] = [];
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules,
      compatibilityDate: COMPATIBILITY_DATE,
      d1Databases: { DB: "deployed" },
      durableObjects: {
        KEY_LIMITER: { className: "KeyLimiter", useSQLite: true },
        OWNER_LIMITER: { className: "OwnerLimiter", useSQLite: true },
      },
      handleStructuredLogs: ({ message }) => {
        lines.push(message);
      },
    }),
  );
  try {
    const headers = { Authorization: `Bearer ${await inventKey()}` };
    const response = await fetch(new URL("/v1/store/orders", await miniflare.ready), { headers });
    expect(response.status).toBe(500);
    await vi.waitFor(() => expect(lines.join()).toContain('"request_failed"'));
  } finally {
    await miniflare.dispose();
  }
  const line = lines.find((each) => each.includes('"request_failed"')) ?? "";
  expect(line).not.toContain("src/worker");
  writeFileSync(join(project, "line.txt"), line);
  const { text = "" } =
    codeBlocks(readText("docs/runbook.md")).find((block) => /SourceMap/.test(block.text)) ?? {};
  const { out, err, code } = await runProcess("bash", ["-e"], {}, { cwd: project, input: text });
  expect(code, err).toBe(0);
  expect(out).toMatch(/\(\S*src\/worker\/key\/mac\.ts:\d+\)/);
}

/** The database of 2.2, where wrangler has noted its one migration. */
function databaseOf22(): DatabaseSync {
  const of22 = new DatabaseSync(":memory:");
  of22.exec(readFileSync(join(PROJECT, "migrations/0000_init.sql"), "utf8"));
  of22.exec(
    `create table d1_migrations (id integer primary key autoincrement, name text unique, applied_at timestamp default current_timestamp not null);
    insert into d1_migrations (name) values ('0000_init.sql')`,
  );
  return of22;
}

describe("npm run deploy", () => {
  it("asks Cloudflare for nothing while wrangler.toml is as published", async ({ expect }) => {
    const { code, err, lines } = await deploy((toml) => toml);
    expect([code, lines]).toEqual([1, []]);
    expect(err).toContain(
      "Nothing was deployed.\n- The database_id of store-orders is missing or a placeholder.",
    );
  });

  it("says first that nobody is signed in, and asks Cloudflare for nothing", async ({ expect }) => {
    const { code, err, lines } = await deploy(withDatabaseAndDomain, {});
    expect([code, lines]).toEqual([1, []]);
    expect(err).toBe("Nothing was deployed.\n- You are not signed in to Cloudflare: npx wrangler login\n");
  });

  it("deploys no Worker when a migration fails", async ({ expect }) => {
    const file = join(project, "migrations/0000_aaa_fails.sql");
    writeFileSync(file, "create table half (id integer);\ninsert into no_such_table values (1);\n");
    const { code, err, lines } = await deploy(withDatabaseAndDomain);
    rmSync(file);
    expect(code).toBe(1);
    expect(err).toContain("Deploying stopped: wrangler d1 migrations apply DB --remote --env= failed.");
    expect(lines.filter((line) => !line.startsWith("POST /d1/"))).toEqual([]);
  });

  it("applies every migration, then deploys the Worker with its bindings and its domain", async ({
    expect,
  }) => {
    const { code, out, err, lines } = await deploy(withDatabaseAndDomain);
    expect(code, out + err).toBe(0);
    const applied = database.prepare("select name from d1_migrations order by name").all();
    const files = readdirSync(join(project, "migrations"))
      .filter((name) => name.endsWith(".sql"))
      .sort();
    expect(applied.map(({ name }) => name)).toEqual(files);
    const upload = lines.indexOf("PUT /workers/scripts/store-orders");
    expect(upload).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith("POST /d1/")));
    expect(requests[upload]?.body).toMatchObject({
      bindings: expect.arrayContaining([
        { name: "DB", type: "d1", id: DATABASE_ID },
        { name: "KEY_LIMITER", type: "durable_object_namespace", class_name: "KeyLimiter" },
      ]),
      migrations: { steps: [{ new_sqlite_classes: ["KeyLimiter", "OwnerLimiter"] }] },
    });
    await expectReadableStacks(expect, requests[upload]?.files ?? new Map());
    const domain = requests.find(({ line }) => line.endsWith("/domains/records"));
    expect(domain?.body).toMatchObject({ origins: [{ hostname: "api.example.com" }] });
  });

  it.for([
    ["of 2.1", "drop table past_owners", "The database is of version 2.1 or older, and no migration"],
    [
      "of a newer version",
      `create view schema_number as select ${SCHEMA_NUMBER + 1} as number`,
      `The database is of a newer version (schema ${SCHEMA_NUMBER + 1}, and this version has ${SCHEMA_NUMBER}): use that version`,
    ],
  ] as const)("applies and deploys nothing on a database %s", async ([, statement, says], { expect }) => {
    database = databaseOf22();
    database.exec(statement);
    const { code, err, lines } = await deploy(withDatabaseAndDomain);
    expect([code, lines]).toEqual([1, [`POST /d1/database/${DATABASE_ID}/query`]]);
    expect(err).toContain(`Nothing was deployed.\n- ${says}`);
  });

  it("applies and deploys nothing if the database cannot be read", async ({ expect }) => {
    outage = { status: 403, error: { code: 10_000, message: "Authentication error" } };
    const { code, err, lines } = await deploy(withDatabaseAndDomain);
    expect([code, new Set(lines)]).toEqual([1, new Set([`POST /d1/database/${DATABASE_ID}/query`])]);
    expect(err).toContain("Nothing was deployed, because the database could not be read:\n");
    expect(err).toContain("Authentication error");
  });
});
