/** The fake account behind cloudflare-api.ts: it has what was created through its API. D1 is SQLite. */
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

export type Answer = {
  readonly status?: number;
  readonly result?: unknown;
  readonly errors?: readonly { code: number; message: string }[];
};

export function failure(status: number, code: number, message: string): Answer {
  return { status, errors: [{ code, message }] };
}

type Body = Record<string, unknown>;
type Version = { readonly id: string; readonly metadata: Body };
type Deployment = { versions: { version_id: string; percentage: number }[] };

export class FakeWorker {
  /** The newest first, as the API lists them. */
  readonly versions: Version[] = [];
  readonly deployments: Deployment[] = [];
  readonly secrets = new Map<string, string>();
  readonly address = { enabled: false, previews_enabled: false };
  migrationTag: string | undefined;

  addVersion(metadata: Body): Version {
    const version = { id: randomUUID(), metadata };
    this.versions.unshift(version);
    // An upload names the tag that its classes have afterwards.
    const migrations = metadata.migrations as { new_tag: string } | undefined;
    this.migrationTag = migrations?.new_tag ?? this.migrationTag;
    return version;
  }

  deploy(versions: Deployment["versions"]): Deployment {
    const deployment = { id: randomUUID(), ...WHO_AND_WHEN, annotations: {}, versions };
    this.deployments.unshift(deployment);
    return deployment;
  }
}

/** Members that wrangler prints. */
const WHO_AND_WHEN = {
  source: "wrangler",
  strategy: "percentage",
  author_email: "operator@example.com",
  created_on: "2026-11-21T12:00:00.000000Z",
};

const BOOKMARK = "00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683";

type Request = { readonly match: readonly string[]; readonly body: Body; readonly url: string };

export class CloudflareAccount {
  readonly workers = new Map<string, FakeWorker>();
  /** By id. */
  readonly databases = new Map<string, { readonly name: string; readonly sqlite: DatabaseSync }>();

  /** What a tail sends: one invocation with one line of the Worker. */
  readonly tailMessage = JSON.stringify({
    outcome: "ok",
    event: null,
    eventTimestamp: Date.UTC(2026, 10, 21),
    logs: [
      { message: ['{"event":"request","status":200}'], level: "log", timestamp: Date.UTC(2026, 10, 21) },
    ],
    exceptions: [],
  });

  /** Undefined: the account does not know this request. `line` is as `ApiRequest` has it. */
  answer(line: string, body: Body, url: string): Answer | undefined {
    for (const [pattern, answer] of [...this.#ofDatabases, ...this.#ofWorkers]) {
      const match = new RegExp(`^${pattern}$`).exec(line);
      if (match) return answer({ match: match.slice(1), body, url });
    }
    return undefined;
  }

  readonly #ofDatabases: [string, (request: Request) => Answer][] = [
    ["POST /d1/database", ({ body }) => this.#createDatabase(String(body.name))],
    ["GET /d1/database/([\\w-]+)", ({ match: [id = ""] }) => this.#describeDatabase(id)],
    ["POST /d1/database/([\\w-]+)/query", ({ match: [id = ""], body }) => this.#query(id, String(body.sql))],
    ["GET /d1/database/[\\w-]+/time_travel/bookmark\\?.*", () => ({ result: { bookmark: BOOKMARK } })],
    [
      "POST /d1/database/[\\w-]+/time_travel/restore\\?bookmark=(.+)",
      ({ match: [bookmark] }) => ({ result: { bookmark, previous_bookmark: BOOKMARK, message: "" } }),
    ],
    [
      "POST /d1/database/[\\w-]+/export",
      ({ url }) => ({ result: exportAt(`${url}/client/v4/signed/export.sql`) }),
    ],
    ["GET /signed/export.sql", () => ({ result: "the export" })],
    ["POST /d1/database/[\\w-]+/import", () => ({ result: IMPORTED })],
  ];

  readonly #ofWorkers: [string, (request: Request) => Answer][] = [
    ["GET /workers/subdomain", () => ({ result: { subdomain: "acme" } })],
    [
      "GET /workers/services/([\\w-]+)",
      this.#worker((worker, { match: [name] }) => describeService(name, worker)),
    ],
    ["GET /workers/workers/([\\w-]+)", this.#worker(({ address }) => ({ subdomain: address }))],
    [
      "POST /workers/scripts/[\\w-]+/assets-upload-session",
      ({ body }) => ({ result: { jwt: "assets", buckets: [hashesOf(body)] } }),
    ],
    ["POST /workers/assets/upload\\?base64=true", () => ({ status: 201, result: { jwt: "assets" } })],
    ["PUT /workers/scripts/([\\w-]+)\\?.*", ({ match: [name = ""], body }) => this.#createWorker(name, body)],
    [
      "POST /workers/scripts/([\\w-]+)/versions\\?.*",
      this.#worker((worker, { body }) => describeVersion(worker.addVersion(body))),
    ],
    [
      "GET /workers/scripts/([\\w-]+)/versions\\?deployable=true",
      this.#worker(({ versions }) => ({ items: versions.map(describeVersion) })),
    ],
    [
      "GET /workers/scripts/([\\w-]+)/versions/([\\w-]+)",
      this.#worker(
        ({ versions }, { match: [, id] }) =>
          versions.filter((each) => each.id === id).map(describeVersion)[0],
      ),
    ],
    ["GET /workers/scripts/([\\w-]+)/deployments", this.#worker(({ deployments }) => ({ deployments }))],
    // wrangler sends this body.
    [
      "POST /workers/scripts/([\\w-]+)/deployments(?:\\?.*)?",
      this.#worker((worker, { body }) => worker.deploy((body as Deployment).versions)),
    ],
    ["GET /workers/scripts/([\\w-]+)/settings", this.#worker(() => ({ bindings: [] }))],
    ["PATCH /workers/scripts/([\\w-]+)/script-settings", this.#worker(() => ({}))],
    [
      "GET /workers/scripts/([\\w-]+)/secrets",
      this.#worker(({ secrets }) => [...secrets.keys()].map((name) => ({ name, type: "secret_text" }))),
    ],
    [
      "PUT /workers/scripts/([\\w-]+)/secrets",
      this.#worker(({ secrets }, { body }) => secrets.set(String(body.name), String(body.text))),
    ],
    [
      "POST /workers/scripts/[\\w-]+/tails",
      ({ url }) => ({
        result: { id: "tail", url: url.replace("http:", "ws:"), expires_at: "2026-11-22T00:00:00Z" },
      }),
    ],
    ["DELETE /workers/scripts/[\\w-]+/tails/tail", () => ({})],
    ["PUT /workers/scripts/([\\w-]+)/schedules", this.#worker(() => ({}))],
    [
      "POST /workers/scripts/([\\w-]+)/domains/changeset\\?replace_state=true",
      this.#worker((_, { body }) => ({
        added: Object.values(body),
        removed: [],
        updated: [],
        conflicting: [],
      })),
    ],
    ["PUT /workers/scripts/([\\w-]+)/domains/records", this.#worker(() => ({}))],
    [
      "POST /workers/scripts/([\\w-]+)/subdomain",
      this.#worker((worker, { body }) => Object.assign(worker.address, body)),
    ],
  ];

  /** Answers for a Worker that exists; 404 otherwise. */
  #worker(answer: (worker: FakeWorker, request: Request) => unknown): (request: Request) => Answer {
    return (request) => {
      const worker = this.workers.get(request.match[0] ?? "");
      return worker
        ? { result: answer(worker, request) }
        : failure(404, 10_090, "This Worker does not exist on your account.");
    };
  }

  #createWorker(name: string, metadata: Body): Answer {
    const worker = this.workers.get(name) ?? new FakeWorker();
    this.workers.set(name, worker);
    const { id } = worker.addVersion(metadata);
    worker.deploy([{ version_id: id, percentage: 100 }]);
    return { result: { id: name, tag: name, etag: "", deployment_id: id, startup_time_ms: 10 } };
  }

  #createDatabase(name: string): Answer {
    const uuid = randomUUID();
    this.databases.set(uuid, { name, sqlite: new DatabaseSync(":memory:") });
    return { result: { uuid, name, version: "production" } };
  }

  #describeDatabase(id: string): Answer {
    const database = this.databases.get(id);
    return database
      ? { result: { uuid: id, name: database.name, version: "production" } }
      : failure(404, 7_404, "database not found");
  }

  /** One request is one transaction, as in D1. */
  #query(id: string, sql: string): Answer {
    const database = this.databases.get(id)?.sqlite;
    if (!database) return failure(404, 7_404, "database not found");
    try {
      if (/^\s*select\b/i.test(sql)) return queried(database.prepare(sql).all());
      database.exec("begin");
      database.exec(sql);
      database.exec("commit");
      return queried([]);
    } catch (thrown) {
      if (database.isTransaction) database.exec("rollback");
      return failure(400, 7_500, thrown instanceof Error ? thrown.message : String(thrown));
    }
  }
}

function queried(results: unknown[]): Answer {
  return { result: [{ success: true, results, meta: { duration: 1 } }] };
}

function describeService(name: string | undefined, { migrationTag }: FakeWorker): unknown {
  const script = {
    id: name,
    tag: name,
    tags: [],
    migration_tag: migrationTag,
    last_deployed_from: "wrangler",
  };
  return { id: name, default_environment: { environment: "production", script } };
}

function describeVersion({ id }: Version): unknown {
  const resources = { bindings: [], script: { handlers: ["fetch"] }, script_runtime: {} };
  return { id, number: 1, metadata: WHO_AND_WHEN, annotations: {}, resources, startup_time_ms: 10 };
}

/** As of a file that was uploaded before. */
const IMPORTED = {
  success: true,
  type: "import",
  status: "complete",
  messages: [],
  at_bookmark: BOOKMARK,
  result: {
    num_queries: 1,
    final_bookmark: BOOKMARK,
    meta: { duration: 1, rows_read: 1, rows_written: 1, size_after: 1 },
  },
};

function exportAt(url: string): unknown {
  const result = { filename: "export.sql", signed_url: url };
  return { success: true, type: "export", status: "complete", messages: [], at_bookmark: BOOKMARK, result };
}

function hashesOf(body: Body): string[] {
  const manifest = body.manifest as Record<string, { hash: string }>; // wrangler sends this body
  return Object.values(manifest).map(({ hash }) => hash);
}
