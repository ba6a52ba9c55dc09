/** The service over HTTP, with its pages and its own storage. Every response is checked. */
import { checkResponses } from "./check-response.ts";
import type { Database } from "./database.ts";
import { RequestLog } from "./request-log.ts";
import { ADMIN_TOKEN, startWorkerd } from "./workerd.ts";

export { ADMIN_TOKEN } from "./workerd.ts";

export const LIST = "/v1/store/orders";

export type AdminAnswer = {
  status: number;
  headers: Headers;
  text: string;
  // Bodies differ from route to route; each test checks the shape that it expects.
  body: Record<string, unknown> & { id: string; key: string; message: string };
};

/** A service of its own, which the test closes. It takes some 2 s to start: prefer `openService`. */
export async function startService(vars: Record<string, string> = {}) {
  const log = new RequestLog([ADMIN_TOKEN]);
  const workerd = await startWorkerd({ hasPages: true, vars, onLog: (line) => log.add(line) });
  const { url, db } = workerd;
  const check = checkResponses(await (await fetch(new URL("/openapi.json", url))).json());

  const service = {
    url,
    db,
    binding: workerd.binding,
    log,
    createKey: workerd.createKey,
    addSecret: workerd.addSecret,
    close: workerd.close,

    /** A request with a key (`null`: without one), over HTTP. */
    async call(key: string | null, path: string, init: RequestInit = {}): Promise<Response> {
      const headers = new Headers(init.headers);
      if (key !== null) headers.set("Authorization", `Bearer ${key}`);
      const method = init.method ?? "GET";
      const sentAtMs = Date.now();
      const response = await fetch(new URL(path, url), { ...init, headers });
      const body = await response.clone().text();
      check({ method, path, response, body, sentAtMs, readAtMs: Date.now() });
      log.expect({ method, response, secret: key });
      return response;
    },

    /** A request to the admin API. A string is sent unchanged, any other body as JSON. */
    async admin(method: string, path: string, body?: unknown): Promise<AdminAnswer> {
      const response = await service.call(ADMIN_TOKEN, `/admin${path}`, {
        method,
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
  };
  return service;
}

export type Service = Awaited<ReturnType<typeof startService>>;

let shared: Promise<Service> | undefined;

/**
 * The service that the test files of one worker process share, with an empty database and the plans as
 * migrated. It is not closed: it ends with the process.
 */
export async function openService(): Promise<Service> {
  shared ??= startService();
  const service = await shared;
  await emptyDatabase(service.db);
  return service;
}

/** Throws if the shared service has not written one line for each request, or if a line has a secret. */
export async function checkSharedLog(): Promise<void> {
  await (await shared)?.log.check();
}

/** Deletes all rows except those that the migrations insert, whose tables keep their rows. */
async function emptyDatabase(db: Database): Promise<void> {
  const { results } = await db
    .prepare(
      `select name from sqlite_master where type = 'table'
       and name not in ('plans', 'mac_keys', 'order_changes', 'd1_migrations') and name not glob '_cf_*' and name not glob 'sqlite_*'`,
    )
    .all<{ name: string }>();
  const keepAudit = await db
    .prepare("select sql from sqlite_master where name = 'audit_log_is_kept'")
    .first<string>("sql");
  if (keepAudit === null) throw new Error("the trigger that keeps the audit log has another name");
  await db.batch([
    // The tables come in any order.
    db.prepare("pragma defer_foreign_keys = on"),
    db.prepare("drop trigger audit_log_is_kept"),
    ...results.map(({ name }) => db.prepare(`delete from ${name}`)),
    db.prepare(keepAudit),
  ]);
}

/** Resolves when `seconds` of the current UTC minute are left, so that a burst stays within one minute. */
export async function untilMinuteHas(seconds: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < seconds * 1000) await new Promise((resolve) => setTimeout(resolve, leftMs + 20));
}
