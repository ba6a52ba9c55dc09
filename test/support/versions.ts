/**
 * Two versions of the Worker in Miniflare: `old`, the deployed release that test/release keeps, and `new`, the current one.
 * Each is there twice: with its own class of limiters, and with that of the other one. All share one D1.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { readD1Migrations } from "@cloudflare/vitest-plugin";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { buildWorker } from "../../src/tools/build-worker.ts";
import { PROJECT } from "./cli.ts";
import { ADMIN_TOKEN, LIST, mintSecret } from "./service.ts";
import { workerOptions } from "./worker-options.ts";

export type Version = "old" | "new";
export const VERSIONS = ["old", "new"] as const;

export type Migration = { readonly name: string; readonly queries: readonly string[] };
/** What Miniflare gives for a D1 binding. */
export type Database = Pick<D1Database, "prepare" | "batch">;

type Release = { readonly commit: string; readonly migrations: Readonly<Record<string, string>> };

const FOLDER = join(PROJECT, "test", "release");

function readRelease(): Release {
  // `npm run keep:release` writes it.
  return JSON.parse(readFileSync(join(FOLDER, "release.json"), "utf8")) as Release;
}

/** The migrations that the release had, and those that came with the current version. */
export async function readMigrations(): Promise<{ before: Migration[]; added: Migration[] }> {
  const { migrations } = readRelease();
  const all = await readD1Migrations(join(PROJECT, "migrations"));
  return {
    before: all.filter(({ name }) => name in migrations),
    added: all.filter(({ name }) => !(name in migrations)),
  };
}

/** As `wrangler d1 migrations apply` does: each file that is not recorded yet is one transaction with its record. */
export async function migrate(db: Database, migrations: readonly Migration[]): Promise<string[]> {
  const table =
    "create table if not exists d1_migrations (id integer primary key autoincrement, name text unique, applied_at timestamp default current_timestamp not null)";
  await db.prepare(table).run();
  const { results } = await db.prepare("select name from d1_migrations").all<{ name: string }>();
  const applied: string[] = [];
  for (const { name, queries } of migrations.filter(
    (each) => !results.some((row) => row.name === each.name),
  )) {
    const record = db.prepare("insert into d1_migrations (name) values (?)").bind(name);
    await db.batch([...queries.map((query) => db.prepare(query)), record]);
    applied.push(name);
  }
  return applied;
}

export async function readScripts(): Promise<Record<Version, string>> {
  const old = gunzipSync(readFileSync(join(FOLDER, "worker.js.gz"))).toString();
  return { old, new: await buildWorker("") };
}

function optionsOfWorker(name: string, script: string, limitersOf?: string) {
  return workerOptions({ name, script, limitersOf, database: "shared", bindings: { ADMIN_TOKEN } });
}

function optionsOf(workers: ReturnType<typeof workerOptions>[], folder?: string) {
  return convertV4MiniflareOptions({
    host: "127.0.0.1",
    port: 0,
    workers,
    // The Workers' log lines.
    handleStructuredLogs: () => {},
    ...(folder === undefined ? {} : { resourcePersistencePath: folder }),
  });
}

/** One version of the Worker, over HTTP. */
export class VersionClient {
  readonly #url: URL;

  constructor(url: URL) {
    this.#url = url;
  }

  call(key: string, path = LIST, init: RequestInit = {}): Promise<Response> {
    const headers = { ...init.headers, Authorization: `Bearer ${key}` };
    return fetch(new URL(path, this.#url), { ...init, headers });
  }

  /** The body of a successful answer of the admin API. */
  // Bodies differ from route to route; each test checks the shape that it expects.
  async admin(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Record<string, unknown> & { id: string; key: string }> {
    const response = await this.call(ADMIN_TOKEN, `/admin${path}`, {
      method,
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}

/** Both versions beside each other. `of(worker, limiter)`: the Worker of one version with the limiters of one. */
export async function startBoth(scripts: Record<Version, string>) {
  const names = VERSIONS.flatMap((worker) => VERSIONS.map((limiter) => ({ worker, limiter })));
  const nameOf = (worker: Version, limiter: Version) =>
    worker === limiter ? worker : `${worker}-with-${limiter}`;
  const miniflare = new Miniflare(
    optionsOf(
      names.map(({ worker, limiter }) =>
        optionsOfWorker(nameOf(worker, limiter), scripts[worker], worker === limiter ? undefined : limiter),
      ),
    ),
  );
  await miniflare.ready;
  const clients = new Map<string, VersionClient>();
  for (const { worker, limiter } of names) {
    const name = nameOf(worker, limiter);
    clients.set(name, new VersionClient(await miniflare.unsafeGetDirectURL(name)));
  }
  return {
    db: (await miniflare.getD1Database("DB", "old")) as Database,
    of(worker: Version, limiter: Version): VersionClient {
      const client = clients.get(nameOf(worker, limiter));
      if (!client) throw new Error("every pair is started");
      return client;
    },
    close: () => miniflare.dispose(),
  };
}

/** One Worker, whose version is replaced by `deploy`: its objects are destroyed, and their storage is kept. */
export async function startOne(script: string, folder: string) {
  const miniflare = new Miniflare(optionsOf([optionsOfWorker("service", script)], folder));
  const client = async () => {
    await miniflare.ready;
    return new VersionClient(await miniflare.unsafeGetDirectURL("service"));
  };
  return {
    client,
    db: async () => (await miniflare.getD1Database("DB", "service")) as Database,
    deploy: (next: string) => miniflare.setOptions(optionsOf([optionsOfWorker("service", next)], folder)),
    close: () => miniflare.dispose(),
  };
}

/** With plain SQL, so that it is the same in both versions. */
export async function createKey(db: Database, plan: string): Promise<{ id: string; key: string }> {
  const id = `key_${crypto.randomUUID().replaceAll("-", "")}`;
  const { key, hash, hint } = mintSecret();
  await db.batch([
    db.prepare("insert into api_keys (id, name, plan, created_at) values (?, 'test', ?, 0)").bind(id, plan),
    db
      .prepare("insert into key_secrets (hash, key_id, hint, created_at) values (?, ?, ?, 0)")
      .bind(hash, id, hint),
  ]);
  return { id, key };
}
